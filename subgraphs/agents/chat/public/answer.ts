import { newId, newIdInTurn } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import { type Answered, type Answerer, type AnswererCall, answer, inPieces, nothingCalled } from '../../engines/answer/answer.ts'
import type { Admitted } from '../../engines/chat/gate.ts'
import { session as limits } from '../../engines/chat/gate.ts'
import { type KnowledgeHit, searchKnowledge } from '../../engines/knowledge/search.ts'
import type { Message } from '../../engines/model/models.ts'
import { isHeldBy } from '../../engines/run/kill-switch.ts'
import type { ShownSource } from '../../stores/chat/session.ts'
import type { ChatSiteRow, Persona } from '../../stores/chat/site.ts'
import { holdsBlocked, redact } from './redact.ts'

/** How many turns of the past a model is told, and how many passages it is given. */
export const max = { before: 10, passages: 4, quote: 600 } as const

const blockedSentence = 'This chat does not answer that.'

/** An answer as it begins: what is known before its text. */
export interface Begun {
  readonly head: { readonly session: object; readonly persona: object }
  readonly pieces: AsyncIterable<string>
  /** The whole answer, once its text is there; it is kept then. */
  end(text: string): Promise<object>
}

type Hit = KnowledgeHit & { readonly title: string }

const shownSource = ({ document, source, quote }: Hit): ShownSource => ({
  ...{ title: document.title, url: document.url ?? source.url, quote: quote.slice(0, max.quote), documentId: document.id },
})

const shownAction = ({ kind, label, url, iosUrl, androidUrl }: Hit['source']['actions'][number]) => ({
  ...{ kind: kind.toLowerCase(), label, url, iosUrl, androidUrl },
})

/** Answers a visitor whose turn is taken, from public sources alone. @param signal aborts when the visitor leaves */
export async function answerVisitor(
  job: Job,
  site: ChatSiteRow,
  persona: Persona,
  { session, clearance }: Admitted,
  message: string,
  signal: AbortSignal,
): Promise<Begun> {
  const flagged = holdsBlocked(message, site.blockedWords)
  const { mode, notice, used, pieces } = flagged ? blocked() : await find(job, site, persona, session.id, message, signal)
  const sources = used.filter((hit, at) => used.findIndex(each => each.document.id === hit.document.id) === at).map(shownSource)
  const actions = [...new Map(used.map(({ source }) => [source.id, source])).values()].flatMap(source => source.actions.map(shownAction))
  const now = job.clock.now()
  const id = newIdInTurn(now, 1)
  const turnsLeft = limits.turns - session.turnsTaken
  const head = {
    session: { id: session.id, clearance, expiresAt: session.expiresAt.toISOString(), turnsLeft },
    persona: { slug: persona.slug, name: persona.name },
  }
  return {
    ...{ head, pieces },
    async end(text) {
      const place = { sessionId: session.id, organizationId: site.organizationId, flagged }
      await inTransaction(job, async ({ transaction }) => {
        await job.chatTurns.insert({ ...place, id: newId(now), role: 'USER', text: redact(message), at: now }, transaction)
        const at = new Date(now.getTime() + 1)
        await job.chatTurns.insert({ ...place, id, role: 'AGENT', text: redact(text), mode, sources, at }, transaction)
      })
      return { ...head, message: { id, text, mode: mode.toLowerCase(), notice, flagged }, sources, actions }
    },
  }
}

const blocked = (): Answered<Hit> => ({
  mode: 'EXTRACTIVE',
  notice: 'This is a fixed answer.',
  used: [],
  pieces: inPieces(blockedSentence),
  ended: nothingCalled,
})

/** A call of the public chat: providers alone count it. */
const uncounted: AnswererCall = { spent: async () => {}, failed: async () => {} }

async function find(job: Job, site: ChatSiteRow, persona: Persona, sessionId: string, message: string, signal: AbortSignal): Promise<Answered<Hit>> {
  const { organizationId } = site
  const held = isHeldBy(await job.killSwitches.heldOf(organizationId, null))
  const mayEmbed = persona.model !== null && !held
  const found = await searchKnowledge(job, { organizationId, query: message, visibility: 'PUBLIC', first: max.passages, mayEmbed })
  const answerer: Answerer = {
    ...{ organizationId, instructions: persona.instructions, model: held ? null : persona.model, voice: null },
    begin: async () => uncounted,
  }
  const turns = persona.model === null ? [] : await job.chatTurns.lastOf(sessionId, max.before)
  const before = turns.filter(turn => !turn.flagged).map(({ role, text }): Message => ({ role: role === 'USER' ? 'USER' : 'ASSISTANT', content: text }))
  return answer(
    job,
    answerer,
    { text: message, before, forUser: null, signal },
    found.map(hit => ({ ...hit, title: hit.document.title })),
  )
}
