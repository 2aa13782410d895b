import { codeOf, DomainError } from '../../../../platform/errors.ts'
import type { Handler, Handlers } from '../../../http/handlers.ts'
import { problemOf } from '../../../http/problem.ts'
import type { Job } from '../../context.ts'
import type { Gate } from '../../engines/chat/gate.ts'
import { ModelFailure } from '../../engines/model/failure.ts'
import type { ChatSiteRow } from '../../stores/chat/site.ts'
import { answerVisitor } from './answer.ts'
import { eventsOf } from './events.ts'
import { personaOf, readSaid, readVerdict } from './request.ts'

/** What the rows of the public chat need. */
export interface PublicChat {
  readonly gate: Gate
  /** The site that is meant where a visitor names none; null: none is. */
  readonly site: string | null
  job(): Job
}

const json = (value: object): Response => Response.json(value, { headers: { 'cache-control': 'no-store' } })

/** Finds the site that a visitor names, or the configured one. @throws NOT_FOUND */
async function siteOf({ site: configured }: PublicChat, job: Job, named: string | null | undefined): Promise<ChatSiteRow> {
  const slug = named ?? configured
  const found = slug ? await job.chatSites.withSlug(slug) : null
  if (found) return found
  throw new DomainError('NOT_FOUND', 'There is no public chat of this name.')
}

/** Answers rows of the public chat; refusals of 400 and 403 count among an address's. */
const guarded =
  (chat: PublicChat, answer: (request: Request, job: Job) => Promise<Response>): Handler =>
  async request => {
    const job = chat.job()
    try {
      return await answer(request, job)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'INTERNAL_SERVER_ERROR') throw error
      let refusal = error as DomainError
      if (code === 'BAD_USER_INPUT' || code === 'FORBIDDEN')
        try {
          await chat.gate.refused(job, request)
        } catch (limited) {
          if (codeOf(limited) !== 'RATE_LIMITED') throw limited
          refusal = limited as DomainError
        }
      const { challenge, scope } = refusal.extensions
      return problemOf(request, refusal, [], { ...(challenge !== undefined && { challenge }), ...(scope !== undefined && { scope }) })
    }
  }

async function chatted(chat: PublicChat, request: Request, job: Job): Promise<Response> {
  const said = await readSaid(request)
  const site = await siteOf(chat, job, said.site)
  const persona = personaOf(site, said.persona)
  const admitted = await chat.gate.admit(job, request, site, persona, said)
  const left = new AbortController()
  const begun = await answerVisitor(job, site, persona, admitted, said.message, AbortSignal.any([left.signal, request.signal]))
  const failed = (error: unknown) => {
    if (!(error instanceof ModelFailure)) job.log.error({ err: error }, 'answer of the public chat broke off')
    return { type: 'about:blank', title: 'Bad gateway', status: 502, detail: 'The answer was cut off: ask again.', code: 'UPSTREAM_FAILED' }
  }
  if (request.headers.get('accept')?.includes('text/event-stream')) return eventsOf(begun, () => left.abort(), failed)
  let text = ''
  try {
    for await (const piece of begun.pieces) text += piece
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    throw new DomainError('UPSTREAM_FAILED', 'The answer was cut off: ask again.')
  }
  return json(await begun.end(text))
}

/** The rows of the public chat. */
export function publicChatHandlers(chat: PublicChat): Handlers {
  const at = '/agents/api/public/chat'
  const named = (request: Request) => new URL(request.url).searchParams.get('site')
  return {
    [`GET ${at}/challenge`]: guarded(chat, async (request, job) => {
      await siteOf(chat, job, named(request))
      return json(await chat.gate.challenge(job, request))
    }),
    [`GET ${at}/personas`]: guarded(chat, async (request, job) => {
      const { personas } = await siteOf(chat, job, named(request))
      return json({ personas: personas.map(({ slug, name, greeting, default: isDefault }) => ({ slug, name, greeting, default: isDefault })) })
    }),
    [`POST ${at}`]: guarded(chat, (request, job) => chatted(chat, request, job)),
    [`POST ${at}/feedback`]: guarded(chat, async (request, job) => {
      const { clearance, messageId, helpful, comment } = await readVerdict(request)
      const session = await chat.gate.sessionOf(job, clearance)
      if (!(await job.chatTurns.judge(messageId, session.id, helpful, comment ?? null))) throw new DomainError('NOT_FOUND', 'This chat has no such answer.')
      return new Response(null, { status: 204 })
    }),
  }
}
