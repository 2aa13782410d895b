import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { factKinds } from '../../subgraphs/store/fact-kinds.ts'
import { until } from '../kit/launch.ts'
import { openStage } from './stage.ts'

/** Where a process dies that tells a fact, or is told one: each with the facts of three subjects on their way. */
const points = ['fact-taken', 'before-inbox', 'in-inbox', 'after-effect', 'after-inbox', 'fact-answered'] as const

test('kill -9 at each step of a fact’s delivery neither loses nor duplicates one and keeps the order of each subject', {
  timeout: 240_000,
}, async () => {
  await using stage = await openStage()
  const first = await stage.start()
  await stage.schedule('so that there is a brand', 3_600_000)
  const [organization] = await stage.sql<{ id: string }>(`select id from identity.organizations where slug = 'demo'`)
  first.child.kill('SIGTERM')
  await first.ended

  const keys: string[] = []
  const write = async (kind: string, key: string, body: object) => {
    await stage.sql(`insert into publishing.facts (id, receiver, kind, subject, body, at, next_at)
      values ('${newId()}', 'launcher', '${kind}', 'attention:${key}', '${JSON.stringify({ key, ...body })}', now(), now())`)
  }
  for (const point of points) {
    for (const number of [1, 2, 3]) {
      const key = `${point}:${number}`
      const opened = (title: string) =>
        write('attention.opened', key, {
          kind: 'POST_FAILED',
          organizationId: organization!.id,
          subjectId: key,
          title,
          url: 'http://localhost/',
          at: new Date().toISOString(),
          audience: 'organization',
        })
      keys.push(key)
      await opened('first')
      await write('attention.closed', key, {})
      await opened('again')
    }
    const doomed = stage.begin({ CRASH_AT: point })
    expect(await doomed.ended, point).toBe('SIGKILL')
  }

  // The last process dies between commit and delivery: only the row is left.
  const doomed = await stage.start({ CRASH_AT: 'fact-written' })
  await stage.codeOf('mutation { createOrganization(input: { slug: "story", name: "Story" }) { id } }')
  expect(await doomed.ended).toBe('SIGKILL')

  const platform = await stage.start()
  const waiting = 'select from publishing.facts where delivered_at is null union all select from identity.facts where delivered_at is null'
  await until('every fact is delivered', async () => (await stage.sql(waiting)).length === 0, 60)
  const items = await stage.sql<{ key: string; title: string; status: string; version: number }>(
    `select key, title, status, version from launcher.action_items where key like '%:_' and key not like 'post:%' order by key`,
  )
  // Opened, closed and opened again, each once: a repetition or another order would leave another version or state.
  expect(items).toEqual([...keys].sort().map(key => ({ key, title: 'again', status: 'OPEN', version: 3 })))
  const told = await stage.sql<{ receiver: string; count: number }>('select receiver, count(*)::int from identity.facts group by 1')
  expect(told.map(({ receiver }) => receiver).sort()).toEqual([...factKinds['organization.created'].to].sort())
  for (const { receiver, count } of told)
    expect(await stage.sql(`select count(*)::int from ${receiver}.inbox where writer = 'identity'`), receiver).toEqual([{ count }])
  expect(
    await stage.sql(`select subject from publishing.inbox i join identity.organizations o on i.subject = 'organization:' || o.id where o.slug = 'story'`),
  ).toHaveLength(1)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})
