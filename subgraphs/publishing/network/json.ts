/** Reads a network's answer: an object when it is one, else an empty object, for error pages are not always JSON. */
export function readJson<Shape extends object>(text: string): Partial<Shape> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Partial<Shape>) : {}
  } catch {
    return {}
  }
}
