/** Where the credential endpoints live, under the public address. */
export const credentialsPath = '/identity/api/auth'

/** The prefix of our cookies' names. */
export const cookiePrefix = 'identity'

/** Where OAuth clients send people (RFC 6749 §3.1); people come back to it when they have signed in. */
export const authorizePath = `${credentialsPath}/oauth2/authorize`
