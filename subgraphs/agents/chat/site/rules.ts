import { DomainError } from '../../../../platform/errors.ts'
import { requireName, requireText } from '../../../../platform/ids.ts'
import type { UpdateChatSiteInput } from '../../resolvers.generated.ts'
import type { ChatSiteRow, Persona } from '../../stores/chat/site.ts'

/** How much a site may hold, in entries and characters. */
export const limits = { personas: 20, words: 200, word: 100, slug: 60, name: 200, greeting: 1_000, instructions: 10_000, model: 200 } as const

const wrong = (field: string, message: string): DomainError => new DomainError('BAD_USER_INPUT', `${field}: ${message}`, { field })

/** Reads personas; exactly one is the default. @throws BAD_USER_INPUT with the `field` */
function readPersonas(given: NonNullable<UpdateChatSiteInput['personas']>): readonly Persona[] {
  if (given.length > limits.personas) throw wrong('personas', `${given.length} are given, and ${limits.personas} are the most`)
  const slugs = given.map(({ slug }) => slug)
  const defaults = given.filter(persona => persona.default === true)
  if (defaults.length > 1) throw wrong('personas', 'only one is the default')
  return given.map(({ slug, name, greeting, instructions, model, ...persona }, at) => {
    const field = `personas[${at}]`
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug) || slug.length > limits.slug) throw wrong(`${field}.slug`, 'write small letters, digits and single hyphens')
    if (slugs.indexOf(slug) !== at) throw wrong(`${field}.slug`, `${slug} stands in the list before`)
    return {
      slug,
      name: requireName(name, `${field}.name`, limits.name),
      greeting: requireText(greeting, `${field}.greeting`, limits.greeting, 0),
      instructions: requireText(instructions, `${field}.instructions`, limits.instructions, 0),
      model: typeof model === 'string' ? requireName(model, `${field}.model`, limits.model) : null,
      default: defaults.length === 0 ? at === 0 : persona.default === true,
    }
  })
}

/** Reads what a change mentions. @throws BAD_USER_INPUT with the `field` */
export function readSite({ enabled, personas, blockedWords }: UpdateChatSiteInput, before: ChatSiteRow): Partial<ChatSiteRow> {
  if (blockedWords && blockedWords.length > limits.words) throw wrong('blockedWords', `${blockedWords.length} are given, and ${limits.words} are the most`)
  const changes: Partial<ChatSiteRow> = {
    ...(typeof enabled === 'boolean' && { enabled }),
    ...(personas && { personas: readPersonas(personas) }),
    ...(blockedWords && { blockedWords: blockedWords.map((word, at) => requireName(word, `blockedWords[${at}]`, limits.word).trim()) }),
  }
  const after = { ...before, ...changes }
  if (after.enabled && after.personas.length === 0) throw wrong('personas', 'an enabled site needs one')
  return changes
}
