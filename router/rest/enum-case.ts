/** An enum value as the graph writes it (`LINKEDIN_PAGE`), from what a route was sent (`linkedin_page`, or `linkedin-page` in a path). */
export const toEnum = <Value>(value: Value): Value => (typeof value === 'string' ? (value.toUpperCase().replaceAll('-', '_') as Value) : value)

/** An enum value as routes answer it: in lower case. */
export const fromEnum = (value: string): string => value.toLowerCase()

/** A whole number of a query string; anything else stays text, and the graph refuses it with a sentence. */
export const toInteger = (value: string | undefined): number | undefined =>
  value !== undefined && /^-?\d{1,9}$/.test(value) ? Number(value) : (value as undefined)

/** `true` or `false` of a query string; anything else stays text, and the graph refuses it with a sentence. */
export const toBoolean = (value: string | undefined): boolean | undefined => (value === 'true' || value === 'false' ? value === 'true' : (value as undefined))
