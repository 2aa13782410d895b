import { expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { kill, launchPlatform, leftovers, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

test('S-08 after kill -9 of every process the next start recovers by itself with a message, with PostgreSQL left running or killed too', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const start = async () => {
    const platform = launchPlatform(environment)
    const [, url = ''] = await platform.printed(readyLine)
    return { platform, url, node: folder.node(), postgres: folder.postgres() }
  }

  const first = await start()
  await kill(first.node)
  expect(leftovers(folder)).toHaveLength(2)

  const second = await start()
  expect(second.platform.said()).toMatch(/Database .*, still running after its platform was killed: taken over/)
  expect(second.postgres).toEqual(first.postgres)
  await signIn(second.url)

  await Promise.all([kill(second.node), kill(second.postgres)])
  const third = await start()
  expect(third.platform.said()).toMatch(/Database .*, was killed: recovered/)
  expect(third.platform.complained()).toBe('')
  await signIn(third.url)

  third.platform.child.kill('SIGTERM')
  expect(await third.platform.ended).toBe(0)
  expect([folder.node(), folder.postgres(), leftovers(folder)]).toEqual([null, null, []])
})

test('of two starts on one data folder the second names the holder and exits with 1, and the first continues', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const first = launchPlatform(environment)
  const [, url = ''] = await first.printed(readyLine)
  const second = launchPlatform(await platformEnvironment(folder))
  expect(await second.ended).toBe(1)
  expect(second.complained()).toBe(`data folder ${folder.path} is in use by process ${first.child.pid}: stop it, or set DATA_DIR to another folder\n`)
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
})
