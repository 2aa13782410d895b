import { type Agent, request } from 'node:http'

/** A request that is sent repeatedly. */
export interface Sent {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Body in base64. */
  readonly body?: string
  /** Whether to disconnect when the answer begins, like a client that leaves a stream. */
  readonly leaves?: true
}

/**
 * Sends a request. @returns the status of its complete answer, or of the beginning one if the client leaves; 0 for none
 */
export const send = ({ url, method, headers, body, leaves }: Sent, agent: Agent): Promise<number> =>
  new Promise(resolve => {
    const sending = request(url, { method, agent, headers }, answer => {
      if (leaves) {
        resolve(answer.statusCode!)
        return void answer.destroy()
      }
      answer.resume()
      answer.on('close', () => resolve(answer.statusCode!))
    })
    sending.on('error', () => resolve(0))
    sending.end(body && Buffer.from(body, 'base64'))
  })
