import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fingerprintOf, newSecret } from '../../../../subgraphs/http/browser.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { brand as brandDocument, connectIntegration } from '../documents.ts'

const begin = async (graph: Supergraph, as: Viewer, brandId: string, browser?: BrowserStory) =>
  new URL(
    (
      await graph.execute(
        connectIntegration,
        { input: { brandId, platform: 'X' } },
        { as, ...(browser && { browser: { fingerprint: browser.fingerprint() } }) },
      )
    ).data().connectIntegration.authorizationUrl,
  )

/** A browser as far as it matters here: it keeps the platform's cookie, and shows what it is. */
interface BrowserStory {
  fingerprint(): string
  /** Follows an address to the platform, or sends the form of the page that it is on. */
  open(address: URL | string): Promise<Page>
  confirm(page: Page): Promise<Page>
}

interface Page {
  readonly address: string
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

function browserAt(graph: Supergraph, secret: string | null = newSecret()): BrowserStory {
  let kept = secret
  const send = async (address: string, body?: URLSearchParams): Promise<Page> => {
    const headers = { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'sec-fetch-mode': 'navigate', ...(kept && { cookie: `other=1; browser=${kept}` }) }
    const answer = await graph.platform.publishing.http!(new Request(address, { headers, ...(body && { method: 'POST', body }) }), anonymous)
    kept = /^browser=([\w-]+);/.exec(answer.headers.getSetCookie()[0] ?? '')?.[1] ?? kept
    return { address, status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  return {
    fingerprint: () => fingerprintOf(kept!),
    open: address => send(String(address)),
    confirm: page =>
      send(page.address, new URLSearchParams([...page.text.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]))),
  }
}

/** Opens the consent page as a browser that agrees (or does not), and hands back where the network sends it. */
async function consent(address: URL, parameters: Record<string, string> = { sandbox_approve: '1' }): Promise<URL> {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const answer = await fetch(url, { redirect: 'manual' })
  return new URL(answer.headers.get('location')!)
}

/** Comes back to us with what the network gave. */
async function comeBack(graph: Supergraph, address: URL | string): Promise<{ status: number; text: string; headers: Headers }> {
  const answer = await graph.platform.publishing.http!(new Request(address), anonymous)
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

/** What another manager does meanwhile: the person's membership says so from now on, or is gone. */
const giveRoles = (graph: Supergraph, { userId }: Viewer, ...roles: string[]) =>
  roles.length > 0
    ? graph.rows('update identity.memberships set roles = $2 where user_id = $1', [userId, roles])
    : graph.rows('delete from identity.memberships where user_id = $1', [userId])

const connections = async (graph: Supergraph, as: Viewer, id: string) => (await graph.execute(brandDocument, { id }, { as })).data().brand.connections

describe('P-13 connecting X', () => {
  test('sends the person to X’s own page, with state, PKCE and the scopes, and stores the connection when they return', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand('Fine & <b>Bold</b>')
    const address = await begin(graph, owner, brand.id)
    expect(address.href.startsWith(graph.x.settings.authorizeUrl)).toBe(true)
    const asked = Object.fromEntries(address.searchParams)
    expect(asked).toMatchObject({ response_type: 'code', client_id: graph.x.settings.clientId, code_challenge_method: 'S256' })
    expect(asked.redirect_uri).toBe('http://localhost:4000/publishing/api/integrations/x/callback')
    expect(asked.scope!.split(' ').sort()).toEqual(['media.write', 'offline.access', 'tweet.read', 'tweet.write', 'users.read'])
    expect(asked.state!.length).toBeGreaterThanOrEqual(43)
    const page = await comeBack(graph, await consent(address))
    expect(page.status).toBe(200)
    expect(page.text).toContain(`@${graph.x.demo.account.username}`)
    expect(page.text).toContain('Fine &amp; &lt;b&gt;Bold&lt;/b&gt;')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await connections(graph, owner, brand.id)).toMatchObject([
      {
        platform: 'X',
        active: true,
        accountName: `@${graph.x.demo.account.username}`,
        externalAccountId: graph.x.demo.account.id,
        connectedAt: graph.clock.now().toISOString(),
        author: { id: owner.userId },
      },
    ])
    expect(await graph.rows('select action, actor from publishing.audit_entries')).toEqual([{ action: 'connection.authorized', actor: `user:${owner.userId}` }])
  })

  test('replaces tokens, author and time of the existing connection', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, member, brand, connection } = await graph.seed.owner().member().brand().connection()
    await graph.clock.advance(60_000)
    await giveRoles(graph, member, 'admin')
    const admin = { ...member, scopes: owner.scopes }
    expect((await comeBack(graph, await consent(await begin(graph, admin, brand.id)))).status).toBe(200)
    expect(await connections(graph, owner, brand.id)).toMatchObject([
      { id: connection.id, author: { id: member.userId }, connectedAt: graph.clock.now().toISOString() },
    ])
    const row = await graph.job.connections.byId.load(connection.id)
    expect(row!.accessToken).not.toBe(connection.accessToken)
  })

  test('creates a separate connection for each brand', async () => {
    await using graph = await supergraph({ sandbox: true })
    const story = graph.seed.owner().brand('One').connection()
    const { owner, brand: one } = await story
    const { brand: two } = await story.brand('Two')
    await comeBack(graph, await consent(await begin(graph, owner, two.id)))
    expect((await connections(graph, owner, one.id))[0].id).not.toBe((await connections(graph, owner, two.id))[0].id)
  })
})

describe('P-13 connecting fails', () => {
  const refusedPage = async (graph: Supergraph, address: URL | string) => {
    const page = await comeBack(graph, address)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('Nothing was connected')])
    return page
  }

  test('with a used state: a state works once, also for two programs at the same moment', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const back = await consent(await begin(graph, owner, brand.id))
    const statuses = (await Promise.all([comeBack(graph, back), comeBack(graph, back)])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 400])
    await refusedPage(graph, back)
    expect(await connections(graph, owner, brand.id)).toHaveLength(1)
  })

  test('ten minutes after the start, and not a moment before', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const late = await begin(graph, owner, brand.id)
    await graph.clock.advance(1)
    const justInTime = await begin(graph, owner, brand.id)
    await graph.clock.advance(10 * 60_000 - 1)
    const [lateBack, inTimeBack] = [await consent(late), await consent(justInTime)]
    await refusedPage(graph, lateBack)
    expect((await comeBack(graph, inTimeBack)).status).toBe(200)
  })

  test('with a foreign or missing state, and at the callback of another network', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const back = await consent(await begin(graph, owner, brand.id))
    const forged = new URL(back)
    forged.searchParams.set('state', 'somebody else’s')
    await refusedPage(graph, forged)
    forged.searchParams.delete('state')
    await refusedPage(graph, forged)
    await refusedPage(graph, back.href.replace('/x/', '/linkedin/'))
    expect((await comeBack(graph, back.href.replace('/x/', '/myspace/'))).status).toBe(404)
    expect(await connections(graph, owner, brand.id)).toEqual([])
    expect((await comeBack(graph, back)).status).toBe(200)
  })

  test('when the person declines, or the code is not X’s', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const state = (await begin(graph, owner, brand.id)).searchParams.get('state')!
    const callback = 'http://localhost:4000/publishing/api/integrations/x/callback'
    await refusedPage(graph, `${callback}?error=access_denied&state=${state}`)
    const other = (await begin(graph, owner, brand.id)).searchParams.get('state')!
    const page = await refusedPage(graph, `${callback}?code=made-up&state=${other}`)
    expect(page.text).not.toContain('made-up')
    expect(await connections(graph, owner, brand.id)).toEqual([])
  })

  test('for a brand of another organization, and with a key', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { outsider, key, brand } = await graph.seed.owner().outsider().key('publishing:accounts.write').brand()
    const input = { brandId: brand.id, platform: 'X' }
    ;(await graph.execute(connectIntegration, { input }, { as: outsider })).refused('NOT_FOUND')
    ;(await graph.execute(connectIntegration, { input }, { as: key })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect(await graph.rows('select * from publishing.authorizations')).toEqual([])
  })

  test('at a network that cannot be connected, at once with its reason and without an address', async () => {
    await using graph = await supergraph()
    const { owner, brand } = await graph.seed.owner().brand()
    for (const platform of ['X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'YOUTUBE', 'TIKTOK']) {
      const answer = await graph.execute(connectIntegration, { input: { brandId: brand.id, platform } }, { as: owner })
      expect(answer.refused('CONFLICT').message, platform).toContain('cannot be connected here')
      expect(JSON.stringify(answer.partial)).not.toMatch(/https?:/)
    }
    expect(await graph.rows('select * from publishing.authorizations')).toEqual([])
  })
})

describe('P-13 a person who has lost the right to manage accounts cannot complete a connection', () => {
  /** Begins, and hands back what ends it. */
  const ways: Readonly<Record<string, (graph: Supergraph, as: Viewer, brandId: string) => Promise<() => Promise<{ status: number; text: string }>>>> = {
    'in the browser': async (graph, as, brandId) => {
      const own = browserAt(graph)
      const back = await consent(await begin(graph, as, brandId, own))
      return () => own.open(back)
    },
    'by a program': async (graph, as, brandId) => {
      const back = await consent(await begin(graph, as, brandId))
      return () => comeBack(graph, back)
    },
    'on the page that asks': async (graph, as, brandId) => {
      const person = browserAt(graph)
      const shown = await person.open(await consent(await begin(graph, as, brandId)))
      return () => person.confirm(shown)
    },
  }

  test.for(
    Object.keys(ways).flatMap(way => [
      [way, 'removed'],
      [way, 'demoted', 'member'],
    ]),
  )('%s, when they were %s', async ([way, , ...roles]) => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().outsider().brand()
    const end = await ways[way!]!(graph, owner, brand.id)
    await giveRoles(graph, owner, ...roles)
    const page = await end()
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('no longer manages the accounts of this brand’s organization')])
    await giveRoles(graph, owner, 'owner')
    expect([await connections(graph, owner, brand.id), graph.sent]).toEqual([[], []])
    // Refused for good: it has to be begun anew.
    expect((await end()).status).toBe(400)
    expect(graph.sent).toEqual([])
  })

  test.for(Object.keys(ways))('%s: while the right cannot be checked, nothing is exchanged nor used up, and the same page works later', async way => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const end = await ways[way]!(graph, owner, brand.id)
    await graph.rows('alter table identity.memberships rename to memberships_away')
    const page = await end()
    expect([page.status, page.text]).toEqual([503, expect.stringContaining('load this page again')])
    expect([await connections(graph, owner, brand.id), graph.sent]).toEqual([[], []])
    await graph.rows('alter table identity.memberships_away rename to memberships')
    const done = await end()
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('is connected')])
  })

  test('rights in another organization do not count', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, outsider, elsewhere, brand } = await graph.seed.owner().outsider().brand()
    const back = await consent(await begin(graph, { ...owner, userId: outsider.userId }, brand.id))
    expect(elsewhere.id).not.toBe(brand.organizationId)
    expect((await comeBack(graph, back)).status).toBe(403)
  })
})

describe('P-13 a connection that was begun in a browser', () => {
  test('ends only in that browser: a victim’s account is not connected, and the initiator can still finish', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const [own, lured] = [browserAt(graph), browserAt(graph)]
    const address = await begin(graph, owner, brand.id, own)
    for (const other of [lured, browserAt(graph, null)]) {
      const page = await other.open(await consent(address))
      expect([page.status, page.text]).toEqual([400, expect.stringContaining('another browser')])
    }
    expect((await comeBack(graph, await consent(address))).status).toBe(400)
    expect([await connections(graph, owner, brand.id), graph.sent]).toEqual([[], []])
    const page = await own.open(await consent(address))
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('is connected')])
    expect(await connections(graph, owner, brand.id)).toHaveLength(1)
  })

  test('shows the same result when the page is loaded again, also during the exchange; to other browsers it is used up', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand('Bakery')
    const own = browserAt(graph)
    const back = await consent(await begin(graph, owner, brand.id, own))
    const pages = await Promise.all([own.open(back), own.open(back)])
    for (const page of [...pages, await own.open(back)]) {
      expect(page.status).toBe(200)
      expect(page.text).toContain(`<bdi>@${graph.x.demo.account.username}</bdi> can now be used by <bdi>Bakery</bdi>`)
    }
    expect((await browserAt(graph).open(back)).status).toBe(400)
    expect(graph.sent.filter(call => call.startsWith('POST'))).toEqual(['POST /x/2/oauth2/token 200'])
  })

  test('is not used up while the network is unavailable: loading the page again continues', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const own = browserAt(graph)
    const back = await consent(await begin(graph, owner, brand.id, own))
    const { authorizations } = graph.job
    const row = (await authorizations.find(back.searchParams.get('state')!, 'X', graph.clock.now()))!
    // As another process would that has died in the middle of it.
    expect(await authorizations.claim(row, graph.clock.now())).toBe(true)
    expect(await authorizations.claim(row, graph.clock.now())).toBe(false)
    // Of requests at the same moment one may have read the clock before the other one, and claim after it.
    expect(await authorizations.claim(row, new Date(graph.clock.now().getTime() - 50))).toBe(false)
    await graph.clock.advance(30_000)
    expect((await own.open(back)).status).toBe(400)
    const again = await consent(await begin(graph, owner, brand.id, own))
    await graph.x[Symbol.asyncDispose]()
    const page = await own.open(again)
    expect([page.status, page.text]).toEqual([502, expect.stringContaining('load this page again')])
    const [kept] = await graph.rows('select used_at, claim_until from publishing.authorizations where used_at is null')
    expect(kept).toEqual({ used_at: null, claim_until: null })
  })
})

describe('P-13 a connection that a program began', () => {
  test('shows brand, organization and person in a browser, and exchanges nothing before the confirmation there', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, organization, brand } = await graph.seed.owner().brand('Fine & <b>Bold</b>')
    const back = await consent(await begin(graph, owner, brand.id))
    const person = browserAt(graph, null)
    const shown = await person.open(back)
    expect([shown.status, shown.headers.getSetCookie()]).toEqual([200, [expect.stringMatching(/^browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)]])
    for (const words of ['Fine &amp; &lt;b&gt;Bold&lt;/b&gt;', organization.name, '<bdi>Person 1</bdi> began this', 'Nothing is connected yet'])
      expect(shown.text).toContain(words)
    expect([await connections(graph, owner, brand.id), graph.sent]).toEqual([[], []])
    const done = await person.confirm(shown)
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('is connected')])
    expect(await connections(graph, owner, brand.id)).toHaveLength(1)
    for (const again of [await person.confirm(shown), await person.open(back)])
      expect([again.status, again.text]).toEqual([200, expect.stringContaining('is connected')])
    expect((await browserAt(graph).confirm(shown)).status).toBe(400)
  })

  test('cannot be confirmed from another browser, with another page’s token, or without one', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const back = await consent(await begin(graph, owner, brand.id))
    const person = browserAt(graph)
    const first = await person.open(back)
    const second = await person.open(back)
    const without = { ...second, text: second.text.replace(/name="token" value="[^"]*"/, '') }
    for (const [who, page] of [
      [browserAt(graph), second],
      [browserAt(graph, null), second],
      [person, first],
      [person, without],
    ] as const)
      expect((await who.confirm(page)).status).toBe(400)
    expect([await connections(graph, owner, brand.id), graph.sent]).toEqual([[], []])
    expect((await person.confirm(second)).status).toBe(200)
  })

  test('goes to the network once more when the person read for longer than its code lives, and completes without another question', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const person = browserAt(graph)
    const shown = await person.open(await consent(await begin(graph, owner, brand.id)))
    await graph.clock.advance(120_000)
    const more = await person.confirm(shown)
    const address = /href="(http[^"]*authorize[^"]*)"/.exec(more.text)?.[1]?.replaceAll('&amp;', '&')
    expect([more.status, await connections(graph, owner, brand.id)]).toEqual([200, []])
    const done = await person.open(await consent(new URL(address!)))
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('is connected')])
  })
})

test('P-11 tokens, state and verifier are in no row, answer, page or log in the clear', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, brand } = await graph.seed.owner().brand()
  const address = await begin(graph, owner, brand.id)
  const state = address.searchParams.get('state')!
  const back = await consent(address)
  const [begun] = await graph.rows<{ state_hash: string; verifier: string }>('select state_hash, verifier from publishing.authorizations')
  expect(begun!.state_hash).toBe(createHash('sha256').update(state).digest('hex'))
  expect(begun!.verifier).toMatch(/^v1\.test\./)
  const page = await comeBack(graph, back)
  const [row] = await graph.job.connections.manyBy('brandId').load(brand.id)
  const { accessToken, refreshToken } = graph.job.connections.open(row!)
  expect([accessToken.length > 40, refreshToken!.length > 40]).toEqual([true, true])
  const refusals = await comeBack(graph, back)
  const answers = await graph.execute(brandDocument, { id: brand.id }, { as: owner })
  const tables = await graph.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const dump = JSON.stringify(await Promise.all(tables.map(({ name }) => graph.rows(`select * from ${name}`))))
  expect(dump).toContain(row!.accessToken!)
  const secrets = [accessToken, refreshToken!, state, back.searchParams.get('code')!, graph.x.settings.clientSecret]
  for (const secret of secrets)
    for (const [where, text] of Object.entries({
      dump,
      page: page.text,
      refusals: refusals.text,
      answers: JSON.stringify(answers.partial),
      log: graph.log.join(''),
    }))
      expect(text.includes(secret), `a secret of ${secret.length} characters in ${where}`).toBe(false)
  expect([row!.accessToken, row!.refreshToken].every(sealed => sealed!.startsWith('v1.test.'))).toBe(true)
  // Sealed for its own place: moved to the other column it does not open.
  expect(() => graph.job.connections.open({ ...row!, accessToken: row!.refreshToken })).toThrow()
})
