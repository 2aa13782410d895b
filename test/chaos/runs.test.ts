import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Client, signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

const create = 'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }'
const publish = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id } }'
const start = 'mutation($input: StartRunInput!) { startRun(input: $input) { id } }'

async function published({ query }: Client, steps: readonly object[]): Promise<string> {
  const { createWorkflow } = (await query(create, { input: { name: 'A plan', trigger: { kind: 'MANUAL' }, steps } })) as { createWorkflow: { id: string } }
  await query(publish, { input: { id: createWorkflow.id } })
  return createWorkflow.id
}

// How long the platform lives each time after the runs have begun, in ms: drawn once, so that each run of the test is the same.
test('kill -9 again and again: every run ends as its plan says, and writes each report once', { timeout: 240_000 }, async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const rows = async <Row>(text: string) => (await database.sequelize.query(text))[0] as Row[]
  let platform = launchPlatform(environment)
  const [, url = ''] = await platform.printed(readyLine)
  const owner = await signIn(url)
  const inner = await published(owner, [
    { key: 'wait', kind: 'DELAY', seconds: 1 },
    { key: 'inner', kind: 'REPORT', title: 'inner', text: '{{input.text}}' },
  ])
  const outer = await published(owner, [
    { key: 'before', kind: 'REPORT', title: 'before', text: 'Before.' },
    { key: 'big', kind: 'BRANCH', condition: { left: '{{input.size}}', operator: 'GREATER', right: 5 }, otherwise: 'sub' },
    { key: 'pause', kind: 'DELAY', seconds: 2 },
    { key: 'sub', kind: 'RUN', workflowId: inner, arguments: { text: 'Size {{input.size}}' } },
    { key: 'after', kind: 'REPORT', title: 'after', text: '{{steps.sub.output.text}}' },
  ])
  const ids: string[] = []
  for (let size = 0; size < 12; size += 1) {
    const { startRun } = (await owner.query(start, { input: { workflowId: outer, input: { size } } })) as { startRun: { id: string } }
    ids.push(startRun.id)
  }
  for (const livesMs of [150, 900, 1_700]) {
    await pause(livesMs)
    platform.child.kill('SIGKILL')
    await platform.ended
    platform = launchPlatform(environment)
    await platform.printed(readyLine)
  }
  await until('every run has ended', async () => {
    const [left] = await rows<{ runs: number }>(`select count(*)::int as runs from agents.runs where status not in ('SUCCEEDED', 'FAILED', 'CANCELLED')`)
    return left!.runs === 0
  })
  const ended = await rows<{ status: string; runs: number }>('select status, count(*)::int as runs from agents.runs group by status')
  expect(ended).toEqual([{ status: 'SUCCEEDED', runs: 2 * ids.length }])
  const written = await rows<{ title: string; lines: number; runs: number }>(
    `select title, count(*)::int as lines, count(distinct run_id)::int as runs from agents.work_feed where kind = 'REPORT_WRITTEN' group by title order by title`,
  )
  expect(written).toEqual(['after', 'before', 'inner'].map(title => ({ title, lines: ids.length, runs: ids.length })))
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})
