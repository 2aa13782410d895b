/** Reads what somebody typed as JSON: nothing for an empty text, null for one that is no JSON. */
export function readJson(text: string): { readonly value?: unknown } | null {
  if (text.trim() === '') return {}
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return null
  }
}
