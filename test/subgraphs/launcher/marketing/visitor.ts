import { vi } from 'vitest'
import type { NewMail } from '../../../../subgraphs/launcher/engines/mail/mail.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Door, Reply } from '../../../kit/door.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { solve } from '../../agents/chat/visitor.ts'

const api = '/launcher/api'

/** Somebody on the marketing site, from an address of their own. */
export function visitorAt(door: Door, from: string) {
  const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> =>
    door.ask(method, `${api}/${path}`, { from, headers, ...(body && { body }) })
  const challenge = async () => (await ask('GET', 'challenge')).json
  const solution = async () => solve(await challenge())
  return {
    ask,
    challenge,
    solution,
    /** Sends a form with a fresh solution. */
    send: async (path: string, body: object, headers: Record<string, string> = {}) => ask('POST', path, { solution: await solution(), ...body }, headers),
  }
}

/** What was queued of mails while the callback ran, and since. */
export function spyOnMails({ platform }: Pick<Supergraph, 'platform'>) {
  const queue = vi.spyOn(platform.launcher.at.services.mail, 'queue')
  return {
    /** Mails of a kind, the oldest first. */
    of: (kind: NewMail['kind'], to?: string): readonly NewMail[] =>
      queue.mock.calls.map(([mail]) => mail).filter(mail => mail.kind === kind && (to === undefined || mail.to === to)),
    forget: () => queue.mockClear(),
  }
}

/** Who looks after the platform, in an organization that they need not share with anybody. */
export const adminOf = (viewer: Viewer): Viewer => person(viewer.userId!, viewer.organizationId!, ['platform_admin'])
