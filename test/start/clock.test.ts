import { expect, test } from 'vitest'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

test('a platform whose clock is 200 s ahead of the database’s starts, is not ready, says why, and becomes ready once they agree', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  // Shadows the built-in function of this name: the database's clock.
  const name = new URL(database.url).pathname.slice(1)
  await database.sequelize.query(`
    create schema beside;
    create table beside.clock (behind interval not null);
    insert into beside.clock values ('200 s');
    create function beside.clock_timestamp() returns timestamptz language sql as 'select pg_catalog.clock_timestamp() - behind from beside.clock';
    alter database ${name} set search_path = beside, pg_catalog, public`)
  const platform = launchPlatform({ ...(await platformEnvironment(folder)), DATABASE_URL: database.url })
  const [, url = ''] = await platform.printed(readyLine)
  const ready = async () => {
    const answer = await fetch(`${url}/health/ready`)
    return { status: answer.status, text: await answer.text() }
  }
  expect(await ready()).toEqual({ status: 503, text: expect.stringMatching(/the clock of this machine is (199|200|201) s ahead of the database's/) })
  await database.sequelize.query(`update beside.clock set behind = '0 s'`)
  await until('it is ready', async () => (await ready()).status === 200)
  expect(platform.said() + platform.complained()).toContain('the clocks of this machine and the database disagree: jobs and sweeps are paused')
  platform.child.kill('SIGTERM')
  await platform.ended
})
