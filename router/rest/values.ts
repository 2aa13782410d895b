/** Whether a value is an object with names. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Converts an enum value of a request (`linkedin_page`, or `linkedin-page` in a path) to the graph's form
 * (`LINKEDIN_PAGE`).
 */
export const toEnum = (value: unknown): unknown => (typeof value === 'string' ? value.toUpperCase().replaceAll('-', '_') : value)

/** Converts an enum value to the form of routes: lower case. */
export const fromEnum = (value: string): string => value.toLowerCase()

/** Reads a whole number of a query string; anything else stays text and is rejected later with a message. */
export const toInteger = (value: string): number | string => (/^-?\d{1,9}$/.test(value) ? Number(value) : value)

/** Reads `true` or `false` of a query string; anything else stays text and is rejected later with a message. */
export const toBoolean = (value: string): boolean | string => (value === 'true' || value === 'false' ? value === 'true' : value)
