import { type WriteTransaction, type Writing, writeFacts } from '../../store/books.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import type { OpenModelPreferences, Warning } from '../stores/model/settings.ts'

/** The author, and the origin of the pages on which people act. */
interface Place extends Writing {
  readonly modelPreferences: Pick<OpenModelPreferences, 'takeWarnings'>
  readonly publicUrl: string
}

function factOf({ organizationId, model, isNew, retiresAt, replacement }: Warning, publicUrl: string, now: Date): NewFact {
  const key = `model:${organizationId}:${model}`
  if (!isNew) return { kind: 'attention.closed', body: { key } }
  return {
    kind: 'attention.opened',
    body: {
      key,
      kind: 'MODEL_DEPRECATED',
      organizationId,
      subjectId: model,
      title: retiresAt ? `${model} ends on ${retiresAt.toISOString().slice(0, 10)}` : `${model} ends`,
      url: `${publicUrl}/providers/api/models/preferences`,
      at: now.toISOString(),
      audience: 'managers',
      body: `A preference or a chain of yours names it${replacement ? `. ${replacement} is offered in its place` : ''}.`,
      ...(retiresAt && { dueAt: retiresAt.toISOString() }),
    },
  }
}

/**
 * Notifies managers once about the retirement of a model that they have set, and withdraws it when they have changed
 * that.
 * @param organizationId null for all; five hundred at once, and the next call handles the rest
 */
export async function tellWarnings(context: Place, organizationId: string | null, unit: WriteTransaction): Promise<void> {
  const found = await context.modelPreferences.takeWarnings(organizationId, unit.now, unit.transaction)
  await writeFacts(
    context,
    found.map(warning => factOf(warning, context.publicUrl, unit.now)),
    unit,
  )
}
