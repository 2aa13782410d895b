import { request } from 'node:http'
import { expect, it } from 'vitest'
import { startMachine } from '../kit/apart.ts'
import { launch, newDataFolder, until } from '../kit/launch.ts'

it('adds up what several routers count, each of which stores it when it stops', async () => {
  await using folder = newDataFolder()
  await using machine = await startMachine(folder, 'router=2', { EVENT_CARRIER: 'notify', DEMO: '0', USAGE_FLUSH_MS: '9000000' })
  // Each request is a connection of its own, which the system gives to either router.
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'apollographql-client-name': 'web', 'apollographql-client-version': '1' }
      const sent = request(`${machine.url}/graphql`, { method: 'POST', headers, agent: false }, answer => {
        answer.resume().once('end', () => resolve(answer.statusCode!))
      })
      sent.once('error', reject).end(JSON.stringify({ query: 'query Who { viewer { kind } }' }))
    })
  const sums = async (metric: string) => {
    const text = await (await fetch(`${machine.url}/metrics`, { headers: { connection: 'close' } })).text()
    return Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1])
  }
  let asked = 0
  // Two coordinates at each router.
  await until('both routers have counted', async () => {
    expect(await ask()).toBe(200)
    asked += 1
    return (await sums('supergraph_usage_sums')) === 4
  })
  await machine.replace('router 1', 'SIGTERM')
  await machine.replace('router 2', 'SIGTERM')
  const command = launch(process.execPath, ['scripts/operate/schema-usage.ts', '--coordinate', 'Viewer.kind'], { DATA_DIR: folder.path })
  await command.printed(new RegExp(`^Viewer\\.kind  ${asked}  web 1 \\(Who\\)  last `))
}, 300_000)
