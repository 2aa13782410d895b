/** Whether a value is an object with names. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** An enum value as the graph writes it (`LINKEDIN_PAGE`), from what a route was sent (`linkedin_page`, or `linkedin-page` in a path). */
export const toEnum = (value: unknown): unknown => (typeof value === 'string' ? value.toUpperCase().replaceAll('-', '_') : value)

/** An enum value as routes answer it: in lower case. */
export const fromEnum = (value: string): string => value.toLowerCase()

/** A whole number of a query string; anything else stays text, and is refused with a sentence. */
export const toInteger = (value: string): number | string => (/^-?\d{1,9}$/.test(value) ? Number(value) : value)

/** `true` or `false` of a query string; anything else stays text, and is refused with a sentence. */
export const toBoolean = (value: string): boolean | string => (value === 'true' || value === 'false' ? value === 'true' : value)
