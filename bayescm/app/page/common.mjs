// What both pages do alike.

export const byId = (id) => document.getElementById(id);
export const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Copy a text; where the browser refuses, show it instead, to be copied by hand. */
export async function copy(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    byId("said").textContent = "Copied.";
  } catch {
    place.textContent = text;
    byId("said").textContent = "Select it below to copy it.";
  }
}

/** Let the first link lead to the answer; the address keeps what was typed. */
export function skip() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("result").focus();
  });
}

/** Save a file from what is in memory. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
