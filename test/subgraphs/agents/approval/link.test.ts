import { describe, expect, it } from 'vitest'
import { openDoor } from '../../../kit/door.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedRun } from '../workflow/seed.ts'

const createLink = 'mutation($input: CreateApprovalLinkInput!) { createApprovalLink(input: $input) { url expiresAt } }'
const approvalQuery = 'query($id: ID!) { approval(id: $id) { status argumentsHash decisions { actor } } }'
const decideApproval = 'mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { status } }'

describe('a single-use link', () => {
  it('shows what is asked and decides nothing, decides once for twenty at once, and then answers like one that never was', async () => {
    await using graph = await supergraph()
    await using door = await openDoor(graph)
    const { owner } = await graph.seed.owner()
    const { approvalId: id } = await seedRun(graph, { organizationId: owner.organizationId!, userId: owner.userId! })
    await graph.rows("update agents.approvals set decisions = '[]' where id = $1", [id])
    const { url, expiresAt } = (await graph.execute(createLink, { input: { approvalId: id } }, { as: owner })).data().createApprovalLink
    const code = new URL(url).searchParams.get('code')!
    expect(code).toMatch(/^[\w-]{43}$/)
    const read = async () => (await graph.execute(approvalQuery, { id }, { as: owner })).data().approval
    // The approval ends in ten minutes, and no link outlives it.
    expect(new Date(expiresAt).getTime()).toBe(graph.clock.now().getTime() + 600_000)
    const page = await door.ask('GET', `/agents/approval?code=${code}`, { headers: { accept: 'text/html' } })
    expect([page.status, page.headers['referrer-policy']]).toEqual([200, 'no-referrer'])
    expect(page.text).toContain('<form')
    expect(page.text).not.toContain('<script')
    const { argumentsHash } = await read()
    const shown = await door.ask('GET', `/agents/approval?code=${code}`, { headers: { accept: 'application/json' } })
    expect(shown.json).toEqual({
      ...{ title: 'May it?', description: null, tool: null, arguments: {}, argumentsHash },
      ...{ allowed: ['approve', 'reject'], expiresAt: expect.any(String) },
    })
    expect((await read()).status).toBe('PENDING')
    const use = (body: object) => door.ask('POST', '/agents/api/approvals/link', { body: { code, decision: 'APPROVE', argumentsHash, ...body } })
    expect((await use({ argumentsHash: `sha256:${'0'.repeat(64)}` })).json).toMatchObject({ status: 409, reason: 'HASH_MISMATCH' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => use({})))
    expect(answers.filter(({ status }) => status === 200).map(({ json }) => json)).toEqual([{ status: 'approved' }])
    const refused = answers.filter(({ status }) => status === 400)
    expect(refused).toHaveLength(19)
    const again = [await use({}), await use({ code: 'A'.repeat(43) }), await use({ code: 7 }), await use({ code: 'A'.repeat(43), decision: 'what' })]
    const alike = ({ json }: { json: object }) => JSON.stringify({ ...json, requestId: null })
    expect(new Set([...refused, ...again].map(alike)).size).toBe(1)
    expect(again[0]!.json).toMatchObject({ code: 'BAD_USER_INPUT', reason: 'CODE' })
    expect((await door.ask('GET', `/agents/approval?code=${code}`, { headers: { accept: 'application/json' } })).json).toMatchObject({ reason: 'CODE' })
    expect((await read()).decisions).toEqual([{ actor: expect.stringMatching(/^link:/) }])
    expect(graph.log.join('\n')).not.toContain(code)
  })

  it('is over when it has expired, and when its approval was decided meanwhile', async () => {
    await using graph = await supergraph()
    await using door = await openDoor(graph)
    const { owner } = await graph.seed.owner()
    const whose = { organizationId: owner.organizationId!, userId: owner.userId! }
    const [brief, decided] = [await seedRun(graph, whose), await seedRun(graph, whose)]
    const codeOf = async (approvalId: string, more: object = {}) =>
      new URL((await graph.execute(createLink, { input: { approvalId, ...more } }, { as: owner })).data().createApprovalLink.url).searchParams.get('code')!
    const codes = [await codeOf(brief.approvalId, { expiresInSeconds: 5 }), await codeOf(decided.approvalId)]
    const { argumentsHash } = (await graph.execute(approvalQuery, { id: decided.approvalId }, { as: owner })).data().approval
    await graph.execute(decideApproval, { input: { id: decided.approvalId, decision: 'REJECT', argumentsHash } }, { as: owner })
    await graph.clock.run(6_000)
    for (const code of codes)
      expect((await door.ask('POST', '/agents/api/approvals/link', { body: { code, decision: 'approve', argumentsHash } })).json).toMatchObject({
        reason: 'CODE',
      })
    const late = await graph.execute(createLink, { input: { approvalId: decided.approvalId } }, { as: owner })
    expect(late.refused('CONFLICT').extensions).toMatchObject({ reason: 'DECIDED' })
  })
})
