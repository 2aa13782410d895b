import { addressHeader, agentHeader, type Cause, origin, readClient, readOrigin } from '../../platform/caller/cause.ts'

/** Maximum characters of a request's id, with the number of a socket's operation behind it. */
export const mostIdCharacters = 80

/** Returns the cause of work for a request of the router, by the headers of the request or of its socket. */
export function causeOf(requestId: string, header: (name: string) => unknown): Cause {
  const client = readClient(header)
  // Trusted because everything here requires the router's seal, which carries both values.
  const address = header(addressHeader)
  return {
    requestId,
    ...(client !== undefined && { client }),
    ...(typeof address === 'string' && { [origin]: readOrigin(address, header(agentHeader) ?? header('user-agent')) }),
  }
}
