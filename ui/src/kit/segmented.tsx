import { useId } from "react";

/** Choices side by side, as radio buttons; nothing is chosen until a person does. */
export function Segmented({ label, choices, chosen, choose, disabled = false }: {
  label: string;
  choices: readonly string[];
  /** Index of the chosen one; -1 for none. */
  chosen: number;
  choose: (index: number) => void;
  disabled?: boolean;
}) {
  const name = useId();
  return (
    <div className="segmented" role="radiogroup" aria-label={label}>
      {choices.map((choice, index) => (
        <label key={index}>
          <input type="radio" name={name} checked={index === chosen} disabled={disabled} onChange={() => { choose(index); }} />
          <span>{choice}</span>
        </label>
      ))}
    </div>
  );
}
