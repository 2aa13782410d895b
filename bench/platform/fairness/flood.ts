/**
 * Program with many clients of one organization that repeat a request as soon as it is answered: `flood.ts REQUEST
 * CONNECTIONS`, the request as JSON. The message `begin` starts them; `end` stops them and is answered with the number
 * of each status.
 */
import { Agent } from 'node:http'
import { type Sent, send } from './send.ts'

const [, , text = '', connections = '1'] = process.argv
const request = JSON.parse(text) as Sent
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
let statuses: Record<string, number> = {}
let isRunning = false
let going: Promise<unknown> = Promise.resolve()

async function repeat(): Promise<void> {
  while (isRunning) {
    const status = await send(request, agent)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
}

process.on('message', async message => {
  if (message === 'begin') {
    statuses = {}
    isRunning = true
    going = Promise.all(Array.from({ length: Number(connections) }, repeat))
    return
  }
  isRunning = false
  await going
  process.send!(statuses)
})
process.on('disconnect', () => process.exit())
process.send!('ready')
