/** The files that go with a message: chosen, or pasted into it. */

import type { ClipboardEvent } from "react";
import type { MessageFile, Upload } from "../api/client";
import { shown } from "../kit/escape";
import { texts } from "../texts";
import { ArtifactView } from "../views/ArtifactView";

/** A file as a request has it. */
export function uploadOf(file: File): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = typeof reader.result === "string" ? reader.result : "";
      resolve({ name: file.name, media_type: file.type.replace(/;.*$/, "") || "application/octet-stream", data: url.replace(/^[^,]*,?/, "") });
    };
    reader.onerror = () => { reject(reader.error ?? new Error(texts.talk.unread(file.name))); };
    reader.readAsDataURL(file);
  });
}

/** The files that were pasted where no text was: a text that was copied may have its picture beside it. */
export function pastedFiles({ clipboardData }: ClipboardEvent): readonly File[] {
  return clipboardData.types.includes("text/plain") ? [] : [...clipboardData.files];
}

export function FilePicker({ files, set }: { files: readonly File[]; set: (files: readonly File[]) => void }) {
  return (
    <div className="row">
      <label className="small">{texts.talk.attach} <input type="file" multiple onChange={({ target }) => { set([...files, ...(target.files ?? [])]); target.value = ""; }} /></label>
      {files.map((file, index) => (
        <span key={index} className="tag">{shown(file.name)} <button type="button" className="plain small" aria-label={texts.talk.leaveOut(shown(file.name))} onClick={() => { set(files.filter((other) => other !== file)); }}>×</button></span>
      ))}
    </div>
  );
}

/** A file that came with a message. */
export function SaidFile({ file: { name, ...facts } }: { file: MessageFile }) {
  return <ArtifactView artifact={{ ...facts, kind: name, digest: "" }} />;
}
