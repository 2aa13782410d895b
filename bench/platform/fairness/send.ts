import { type Agent, request } from 'node:http'

/** What is sent, again and again. */
export interface Sent {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** In base64. */
  readonly body?: string
  /** Leaves when the answer begins, as a client of a stream does that needs it no more. */
  readonly leaves?: true
}

/** Sends a request. @returns the status of its answer once that is whole, or has begun where it is left; 0 for none */
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
