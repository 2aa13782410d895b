/** Where the credential endpoints live, under the public address. */
export const credentialsPath = '/identity/api/auth'

/** The prefix of our cookies' names. */
export const cookiePrefix = 'identity'
