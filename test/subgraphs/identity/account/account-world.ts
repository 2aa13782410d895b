import { expect } from 'vitest'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { type freshIdentity, origin, requestSignIn, userViewer } from '../identity-world.ts'

export const phrase = 'a long enough pass phrase'
const A = '/identity/api/auth'

let lastCaller = 0

/** What an exchange answered. */
export interface Told {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
  readonly json: any
  readonly headers: Headers
}

/** What tests of accounts do, in the words of those who do it. */
export function accountsOf(open: Pick<ReturnType<typeof freshIdentity>, 'identity' | 'database' | 'mailbox'>) {
  const send = async (method: string, path: string, body?: unknown, viewer: Viewer = anonymous, headers: Record<string, string> = {}): Promise<Told> => {
    const answer = await open.identity.http(
      new Request(`${origin}${A}${path}`, {
        method,
        headers: {
          'x-client-address': `10.3.${lastCaller >> 8}.${lastCaller++ & 255}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
      viewer,
    )
    const text = await answer.text()
    return { status: answer.status, text, json: text && JSON.parse(text), headers: answer.headers }
  }
  const post = (path: string, body: unknown, viewer?: Viewer, headers?: Record<string, string>) => send('POST', path, body, viewer, headers)
  const rows = async <Row extends object>(sql: string, bind: unknown[] = []): Promise<Row[]> => (await open.database.sequelize.query(sql, { bind }))[0] as Row[]

  /** Signs in; the viewer is the person with that session. */
  const enter = async (email: string, secret: string): Promise<Viewer & { sessionId: string; userId: string }> => {
    const answer = await requestSignIn(open.identity, email, secret)
    expect(answer.status, email).toBe(200)
    const { accessToken } = (await answer.json()) as { accessToken: string }
    const { sub, sid } = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()) as { sub: string; sid: string }
    return { ...userViewer(sub, null, [], sid), userId: sub, sessionId: sid }
  }
  /** Makes an account, verified, and signs in. */
  const fresh = async (email: string, secret = phrase) => {
    expect((await post('/sign-up/email', { email, password: secret, name: 'Nora New' })).status).toBe(202)
    expect((await post('/verify-email', { code: await open.mailbox.code(email, 'verify-email') })).status).toBe(200)
    return enter(email, secret)
  }
  return {
    send,
    post,
    rows,
    enter,
    fresh,
    signIn: async (email: string, secret: string) => (await requestSignIn(open.identity, email, secret)).status,
    /** How many of these sessions stand. */
    standing: async (...viewers: readonly { readonly sessionId: string }[]) =>
      (await open.identity.authority.sessions(viewers.map(({ sessionId }) => sessionId))).size,
    /** The record of a person's account, the oldest first. */
    record: async (userId: string) =>
      (await rows<{ action: string }>('select action from identity.audit_entries where person_id = $1 order by at, id', [userId])).map(({ action }) => action),
    /** Waits until nothing is left of what was asked by address, and every mail has left: the database is emptied between tests. */
    settled: () =>
      expect
        .poll(() => rows('select id from identity.account_requests union all select id from identity.mails where due_at is not null'), { timeout: 30_000 })
        .toEqual([]),
  }
}

/** What every code that is not good is answered. */
export const usedUp = { status: 400, json: { code: 'BAD_USER_INPUT', reason: 'CODE', field: 'code' } }

export const twenty = <Result>(make: (at: number) => Promise<Result>): Promise<Result[]> => Promise.all(Array.from({ length: 20 }, (_, at) => make(at)))
