/** Path prefix of the credential endpoints. */
export const credentialsPath = '/identity/api/auth'

/** The prefix of our cookies' names. */
export const cookiePrefix = 'identity'

/** Path to which OAuth clients send people (RFC 6749 §3.1); people return to it after the sign-in. */
export const authorizePath = `${credentialsPath}/oauth2/authorize`
