// Modes of files as configurations have them.

/** `0o644` → `0644`. */
export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
