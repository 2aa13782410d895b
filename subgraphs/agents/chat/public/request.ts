import { z } from 'zod'
import { DomainError } from '../../../../platform/errors.ts'
import type { ChatSiteRow, Persona } from '../../stores/chat/site.ts'

/** How much a visitor may say, in characters. */
export const limits = { message: 4_000, comment: 2_000 } as const

const slug = z.string().max(100).nullish()
const said = z.strictObject({
  site: slug,
  persona: slug,
  message: z
    .string()
    .max(limits.message)
    .refine(text => text.trim() !== '' && text.isWellFormed() && !text.includes('\0'), 'say something'),
  solution: z.string().max(10_000).nullish(),
  clearance: z.string().max(200).nullish(),
})
const verdict = z.strictObject({
  clearance: z.string().max(200),
  messageId: z.uuid(),
  helpful: z.boolean(),
  comment: z.string().max(limits.comment).nullish(),
})

export type Said = z.infer<typeof said>

async function bodyOf<Value>(request: Request, shape: z.ZodType<Value>): Promise<Value> {
  let json: unknown
  try {
    json = JSON.parse(await request.text())
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The body is no JSON.')
  }
  const read = shape.safeParse(json)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const field = issue!.path.join('.')
  throw new DomainError('BAD_USER_INPUT', `${field || 'The body'}: ${issue!.message}`, field ? { field } : {})
}

/** Reads what a visitor says. @throws BAD_USER_INPUT */
export const readSaid = (request: Request): Promise<Said> => bodyOf(request, said)
/** Reads what a visitor thinks of an answer. @throws BAD_USER_INPUT */
export const readVerdict = (request: Request) => bodyOf(request, verdict)

/** The persona that a visitor names, or the default one. @throws BAD_USER_INPUT */
export function personaOf({ personas }: Pick<ChatSiteRow, 'personas'>, named: string | null | undefined): Persona {
  const found = named ? personas.find(persona => persona.slug === named) : personas.find(persona => persona.default)
  if (found) return found
  throw new DomainError('BAD_USER_INPUT', `There is no persona ${named}: GET …/personas lists them.`, { field: 'persona' })
}
