import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const fields = 'id version trigger { kind cron timeZone signed } hook { url signed }'
const createWorkflow = `mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { ${fields} } }`
const updateWorkflow = `mutation($input: UpdateWorkflowInput!) { updateWorkflow(input: $input) { ${fields} } }`
const publishWorkflow = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id } }'
const archiveWorkflow = 'mutation($input: ArchiveWorkflowInput!) { archiveWorkflow(input: $input) { id } }'
const rotateHook = `mutation($input: RotateWorkflowHookInput!) { rotateWorkflowHook(input: $input) { workflow { ${fields} } secret } }`
const setKillSwitch = 'mutation($input: SetKillSwitchInput!) { setKillSwitch(input: $input) { id } }'
const runsQuery = 'query($id: ID) { runs(workflowId: $id) { totalCount nodes { id trigger status input startedBy { id } } } }'

async function shop(graph: Supergraph) {
  const { owner } = await graph.seed.owner()
  const ask = async (document: string, variables: object) => (await graph.execute(document, { ...variables }, { as: owner })).data()
  const steps = [{ key: 'note', kind: 'REPORT', text: 'Noted.' }]
  const create = (trigger: object) => graph.execute(createWorkflow, { input: { name: 'A plan', trigger, steps } }, { as: owner })
  return {
    ...{ owner, ask, create },
    async published(trigger: object) {
      const workflow = (await create(trigger)).data().createWorkflow
      await ask(publishWorkflow, { input: { id: workflow.id } })
      return workflow
    },
    runsOf: async (id: string) => (await ask(runsQuery, { id })).runs,
  }
}

describe('a workflow with a schedule', () => {
  it('begins a run at each of its times in its time zone, and one alone for all times that passed meanwhile', async () => {
    // A minute before eleven in Berlin.
    await using graph = await supergraph({ now: '2027-03-01T09:59:00Z' })
    const { published, runsOf } = await shop(graph)
    const { id, trigger } = await published({ kind: 'SCHEDULE', cron: '0 11 * * *', timeZone: 'Europe/Berlin' })
    expect(trigger).toEqual({ kind: 'SCHEDULE', cron: '0 11 * * *', timeZone: 'Europe/Berlin', signed: null })
    await graph.clock.run(59_000)
    expect((await runsOf(id)).totalCount).toBe(0)
    await graph.clock.run(1_001)
    await expect.poll(async () => (await runsOf(id)).nodes).toMatchObject([{ trigger: 'SCHEDULE', input: {}, startedBy: null }])
    await graph.rows(`update agents.workflows set next_at = '2027-02-20T10:00:00Z' where id = $1`, [id])
    await graph.clock.run(30_000)
    await expect.poll(async () => (await runsOf(id)).totalCount).toBe(2)
    const [{ at }] = (await graph.rows<{ at: Date }>('select next_at as at from agents.workflows where id = $1', [id])) as [{ at: Date }]
    expect(at.toISOString()).toBe('2027-03-02T10:00:00.000Z')
  })

  it('begins nothing while the kill switch is engaged, once it is archived, or once its trigger is another', async () => {
    await using graph = await supergraph({ now: '2027-03-01T09:30:00Z' })
    const { published, runsOf, ask } = await shop(graph)
    const [held, archived, changed] = await Promise.all([1, 2, 3].map(() => published({ kind: 'SCHEDULE', cron: '* * * * *' })))
    await ask(archiveWorkflow, { input: { id: archived.id } })
    await ask(updateWorkflow, { input: { id: changed.id, trigger: { kind: 'MANUAL' } } })
    await ask(setKillSwitch, { input: { engaged: true, reason: 'A test.' } })
    await graph.clock.run(90_000)
    for (const { id } of [held, archived, changed]) expect((await runsOf(id)).totalCount).toBe(0)
    await ask(setKillSwitch, { input: { engaged: false } })
    await graph.clock.run(11_000)
    await expect.poll(async () => (await runsOf(held.id)).totalCount).toBe(1)
    for (const { id } of [archived, changed]) expect((await runsOf(id)).totalCount).toBe(0)
  })

  it.each([
    ['trigger.cron', { cron: '* * * *' }],
    ['trigger.cron', { cron: '61 * * * *' }],
    ['trigger.cron', { cron: '0 0 30 2 *' }],
    ['trigger.cron', {}],
    ['trigger.timeZone', { cron: '* * * * *', timeZone: 'Mars/Base' }],
  ])('is refused with the field %s for %j', async (field, more) => {
    await using graph = await supergraph()
    const { create } = await shop(graph)
    expect((await create({ kind: 'SCHEDULE', ...more })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field })
  })
})

describe('a workflow with a hook', () => {
  const standardSignature = (secret: string, id: string, at: number, body: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${at}.${body}`)
      .digest('base64')}`

  it('begins a run for each call with its body as input, once for each key, until its address is another', async () => {
    await using graph = await supergraph()
    await using door = await openDoor(graph)
    const { published, runsOf, ask, owner } = await shop(graph)
    const { id, hook } = await published({ kind: 'WEBHOOK' })
    expect(hook).toEqual({ url: expect.stringMatching(/\/agents\/api\/hooks\/[\w-]{43}$/), signed: false })
    const call = (body: unknown, headers: Record<string, string> = {}, url = hook.url) => door.ask('POST', new URL(url).pathname, { body, headers })
    const calls = await Promise.all([1, 2, 3].map(() => call([{ size: 3 }], { 'idempotency-key': 'one' })))
    expect(calls.map(({ status }) => status)).toEqual([202, 202, 202])
    expect(new Set(calls.map(({ json }) => json.runId)).size).toBe(1)
    expect((await runsOf(id)).nodes).toMatchObject([{ id: calls[0]!.json.runId, trigger: 'WEBHOOK', input: [{ size: 3 }], startedBy: null }])
    await graph.rows(`update agents.hook_calls set at = at - interval '24 hours'`)
    expect((await call('again', { 'idempotency-key': 'one' })).json.runId).not.toBe(calls[0]!.json.runId)
    const none = await call({}, {}, `${hook.url.slice(0, -43)}${'A'.repeat(43)}`)
    const { workflow, secret } = (await ask(rotateHook, { input: { id } })).rotateWorkflowHook
    expect([secret, workflow.hook.url === hook.url]).toEqual([null, false])
    const former = await call({})
    await ask(setKillSwitch, { input: { engaged: true, reason: 'A test.' } })
    expect((await call({}, {}, workflow.hook.url)).json).toMatchObject({ status: 409, reason: 'KILL_SWITCH' })
    await ask(archiveWorkflow, { input: { id } })
    const archived = await call({}, {}, workflow.hook.url)
    const alike = ({ json }: { json: object }) => JSON.stringify({ ...json, requestId: null, instance: null })
    expect([none, former, archived].map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set([none, former, archived].map(alike)).size).toBe(1)
    expect((await runsOf(id)).totalCount).toBe(2)
    expect(graph.log.join('\n')).not.toContain(new URL(hook.url).pathname.split('/').at(-1))
    expect(
      (await graph.execute(rotateHook, { input: { id: (await published({ kind: 'MANUAL' })).id } }, { as: owner })).refused('CONFLICT').extensions,
    ).toMatchObject({
      reason: 'NOT_CONFIGURED',
    })
  })

  it('takes signed calls alone where it is signed, one run an id, and sixty a minute', async () => {
    await using graph = await supergraph()
    await using door = await openDoor(graph)
    const { published, runsOf, ask } = await shop(graph)
    const { id } = await published({ kind: 'WEBHOOK', signed: true })
    const { workflow, secret } = (await ask(rotateHook, { input: { id } })).rotateWorkflowHook
    const path = new URL(workflow.hook.url).pathname
    const body = JSON.stringify({ text: 'signed' })
    const call = (name: string, ageSeconds = 0, key = secret) => {
      const at = Math.floor(graph.clock.now().getTime() / 1_000) - ageSeconds
      const headers = { 'webhook-id': name, 'webhook-timestamp': String(at), 'webhook-signature': standardSignature(key, name, at, body) }
      return door.ask('POST', path, { body: { text: 'signed' }, headers })
    }
    const bad = [await door.ask('POST', path, { body: {} }), await call('one', 0, `whsec_${Buffer.alloc(32).toString('base64')}`), await call('two', 400)]
    expect(bad.map(({ status }) => status)).toEqual([401, 401, 400])
    const good = await Promise.all([1, 2, 3, 4].map(() => call('three')))
    expect(new Set(good.map(({ json }) => json.runId)).size).toBe(1)
    const rest = await Promise.all(Array.from({ length: 70 }, (_, at) => call(`more ${at}`)))
    expect(rest.filter(({ status }) => status === 202)).toHaveLength(56)
    const limited = rest.filter(({ status }) => status === 429)
    expect([limited.length, Number(limited[0]!.headers['retry-after'])]).toEqual([14, 60])
    expect((await runsOf(id)).totalCount).toBe(57)
    await graph.clock.run(60_000)
    expect((await call('later')).status).toBe(202)
  })

  it('refuses what is no JSON, and what is too large', async () => {
    await using graph = await supergraph()
    await using door = await openDoor(graph)
    const { published, runsOf } = await shop(graph)
    const { id, hook } = await published({ kind: 'WEBHOOK' })
    const path = new URL(hook.url).pathname
    const [bad, large] = [await door.ask('POST', path, { body: Buffer.from('no json') }), await door.ask('POST', path, { body: { text: 'x'.repeat(300_000) } })]
    expect([bad.status, large.status]).toEqual([400, 413])
    expect((await runsOf(id)).totalCount).toBe(0)
  })
})
