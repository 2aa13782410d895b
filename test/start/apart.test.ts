import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { isAlive } from '../../db/process-table.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { startMachine } from '../kit/apart.ts'
import { signIn } from '../kit/client.ts'
import { launch, leftovers, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

const everything =
  '{ viewer { user { name } organization { name brands { nodes { name } } } } posts(first: 1) { nodes { copy author { name } } } widgets { app } }'

/** Everything that the query asks of every subgraph, or what went wrong. */
const ask = (url: string) =>
  signIn(url)
    .then(({ query }) => query(everything))
    .catch(error => String(error))

test('npm run start:apart runs the demo in separate processes; a killed one restarts while the others continue; TERM ends all', async () => {
  await using folder = newDataFolder()
  await using machine = await startMachine(folder, '', { EVENT_CARRIER: 'notify' })
  const { url, keeper } = machine
  expect([...machine.processes().keys()].sort()).toEqual([...listedSlugs.map(slug => `${slug} 1`), 'database', 'router 1', 'sandbox'].sort())
  expect(keeper.said()).toContain('PostgreSQL (NOTIFY)')
  const secrets = ['authSecret', 'encryptionKey', 'sealKey', 'natsToken']
  expect(secrets.filter(secret => keeper.said().includes(secret))).toEqual([])
  const ids = spawnSync('npm', ['run', '--silent', 'demo:ids'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder.path },
    encoding: 'utf8',
  })
  const { brandId, sandbox } = JSON.parse(ids.stdout)
  const { query } = await signIn(url)
  const whole = await query(everything)
  expect(whole).toMatchObject({
    viewer: { organization: { name: 'Demo', brands: { nodes: [{ name: 'Demo Brand' }, { name: 'Demo Studio' }] } } },
    posts: { nodes: [{}] },
  })
  const { brand } = await query<{ brand: { connections: { platform: string; active: boolean }[] } }>(
    'query($id: ID!) { brand(id: $id) { connections { platform active } } }',
    { id: brandId },
  )
  expect(brand.connections).toContainEqual({ platform: 'X', active: true })
  expect(brand.connections.filter(({ active }) => !active)).toEqual([])
  expect((await fetch(`${sandbox}/_control/received?network=x`)).status).toBe(200)
  // The page names the demo accounts, as with one process.
  const overview = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  for (const word of ['owner@demo.test', 'supergraph-demo', `href="${sandbox}"`]) expect(overview).toContain(word)

  // Fields of an unavailable subgraph are missing, and nothing else.
  process.kill(machine.processes().get('publishing 1')!.pid, 'SIGKILL')
  await until('publishing is noticed to be gone', () => keeper.said().includes('publishing 1 ended (SIGKILL)'))
  await until('publishing is back', () => keeper.said().includes('publishing 1 is ready again'), 60)
  await until('all of it answers', async () => JSON.stringify(await ask(url)) === JSON.stringify(whole))
  for (const name of ['database', 'router 1']) {
    await machine.replace(name)
    await until(`all of it answers after the end of ${name}`, async () => JSON.stringify(await ask(url)) === JSON.stringify(whole))
  }

  machine.processes()
  keeper.child.kill('SIGTERM')
  // If it took longer than ten seconds the exit code would be 1.
  expect(await keeper.ended).toBe(0)
  expect(machine.remaining()).toEqual([])
  expect(leftovers(folder)).toEqual([])
}, 180_000)

test('ends all processes, the database included, when their parent is killed, and can start again at once', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  // Its router has the port for longer than the next start takes to look.
  await using machine = await startMachine(folder, process.platform === 'linux' ? 'router=2' : '', { ...environment, DRAIN_MS: '3000' })
  expect(machine.remaining().length).toBeGreaterThan(5)
  // Routers of one port share events, whichever receives them.
  for (let time = 0; process.platform === 'linux' && time < 4; time++)
    expect(await (await fetch(`http://localhost:${environment.PORT}/metrics`, { headers: { connection: 'close' } })).text()).toMatch(
      /^supergraph_processes 2$/m,
    )
  machine.keeper.child.kill('SIGKILL')
  // Whoever supervises it starts it again at once: what it left behind is ending, and has the port for that long.
  await machine.keeper.ended
  expect(machine.remaining().length).toBeGreaterThan(5)
  const former = machine.remaining()
  const again = launch(process.execPath, ['router/main.ts', 'apart'], { ...environment, npm_lifecycle_event: 'start:apart' })
  await again.printed(readyLine)
  expect(former.filter(isAlive)).toEqual([])
  again.child.kill('SIGTERM')
  expect(await again.ended).toBe(0)
  expect(leftovers(folder)).toEqual([])
}, 120_000)

test('a process that was just being started when its supervisor was killed ends too', async () => {
  await using folder = newDataFolder()
  const { PORT, ...environment } = await platformEnvironment(folder)
  const gone = String(launch(process.execPath, ['--version']).child.pid)
  const sandbox = launch(process.execPath, ['sandbox/main.ts', '--folder', `${folder.path}/sandbox`, '--port', '0', '--with-parent', gone])
  const database = launch(process.execPath, ['router/main.ts', 'database'], { ...environment, PORT: PORT!, KEPT_BY: `start:apart ${gone}` })
  expect([await sandbox.ended, await database.ended]).toEqual([0, 0])
}, 60_000)
