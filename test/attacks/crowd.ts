/**
 * Many clients of one organization that send the same again as soon as they are answered, in a process of their own. `crowd.ts` with what they send
 * as JSON; the message `begin` lets them begin, and `end` ends them and is answered by how often each status came.
 */
import { Agent, request } from 'node:http'

/** What each of them sends. */
export interface Sending {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly connections: number
}

if (process.send) {
  const { url, method = 'GET', headers = {}, body, connections } = JSON.parse(process.argv[2]!) as Sending
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let statuses: Record<string, number> = {}
  let isRunning = false
  const send = () =>
    new Promise<number>(resolve => {
      const sending = request(url, { method, agent, headers }, answer => {
        answer.resume()
        answer.on('close', () => resolve(answer.statusCode!))
      })
      sending.on('error', () => resolve(0))
      sending.end(body)
    })
  const repeat = async () => {
    while (isRunning) {
      const status = await send()
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  let going: Promise<unknown> = Promise.resolve()
  process.on('message', async message => {
    if (message === 'begin') {
      statuses = {}
      isRunning = true
      going = Promise.all(Array.from({ length: connections }, repeat))
      return
    }
    isRunning = false
    await going
    process.send!(statuses)
  })
  process.on('disconnect', () => process.exit())
  process.send('ready')
}
