import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { playedPlatforms } from '../../router/start/sandbox.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { callbackUrl } from '../../subgraphs/publishing/connection/integration/rules.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

test('a start in development does not depend on the network: X itself is not called, and a failing sandbox is a notice', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const connections = async () => (await database.sequelize.query(`select 1 from publishing.connections where platform = 'X'`))[0].length
  const start = async (extra: Record<string, string>) => {
    const platform = launchPlatform({ ...environment, ...extra })
    await platform.printed(readyLine)
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
    return platform.said()
  }
  let asked = 0
  const page = createServer((_request, response) => {
    asked += 1
    response.setHeader('content-type', 'text/html').end('<h1>Sign in</h1>')
  })
  await once(page.listen(0, '127.0.0.1'), 'listening')
  const elsewhere = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
  const said = await start({ X_CLIENT_ID: 'id', X_CLIENT_SECRET: 'secret', X_AUTHORIZE_URL: elsewhere, X_API_URL: elsewhere })
  page.close()
  expect([asked, said]).toEqual([0, expect.not.stringContaining('is not connected')])

  const sandboxFolder = join(folder.path, 'apart')
  const sandbox = await startSandbox({
    folder: sandboxFolder,
    port: 0,
    redirectUris: playedPlatforms(false).map(platform => callbackUrl(`http://localhost:${environment.PORT}`, platform)),
  })
  const arm = (fault: object) =>
    fetch(`${sandbox.origin}/_control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ network: 'x', ...fault }),
    })
  expect((await arm({ fault: 'expired-token', times: 9 })).status).toBe(200)
  expect(await start({ SANDBOX_DIR: sandboxFolder })).toMatch(
    /^ {2}the demo brand is not connected, the sandbox's X failed \(.+\): the next start tries again$/m,
  )
  expect(await connections()).toBe(0)
  await arm({ fault: 'none' })
  expect(await start({ SANDBOX_DIR: sandboxFolder })).not.toContain('is not connected')
  expect(await connections()).toBe(1)
  await sandbox.stop()
})
