/**
 * Parses a network's answer: returns its JSON object, or an empty object for anything else, such as an HTML error page.
 */
export function readJson<Shape extends object>(text: string): Partial<Shape> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Partial<Shape>) : {}
  } catch {
    return {}
  }
}
