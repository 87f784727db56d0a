import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import "./tokens.css";
import "./kit/kit.css";
import "./page.css";

const page = document.getElementById("page");
if (page !== null) createRoot(page).render(<StrictMode><App /></StrictMode>);
