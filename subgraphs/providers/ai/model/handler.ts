import { DomainError } from '../../../../platform/errors.ts'
import { activeOrganization } from '../../../viewer.ts'
import { requireNoService } from '../../administration/caller.ts'
import type { AiModel } from '../../engines/models/candidates.ts'
import type { Models } from '../../engines/models/in-use.ts'
import { onWire } from '../wire/problem.ts'

/** Returns a model on OpenAI's wire; `created` is in seconds since 1970. */
const wireModel = ({ name, provider, createdAt }: AiModel) => ({
  id: name,
  object: 'model',
  created: Math.floor((createdAt?.getTime() ?? 0) / 1000),
  owned_by: provider,
})

/** The models that an organization may name. */
export const modelsHandler = (models: Models) =>
  onWire(async (_, viewer) => {
    requireNoService(viewer)
    return Response.json({ object: 'list', data: (await models.allowed(activeOrganization(viewer, 'Models'))).map(wireModel) })
  })

/** Handles one model, by its name or by its last part where that is unique. */
export const modelHandler = (models: Models, below: string) =>
  onWire(async (request, viewer) => {
    requireNoService(viewer)
    const name = decoded(new URL(request.url).pathname.slice(below.length))
    const allowed = await models.allowed(activeOrganization(viewer, 'Models'))
    const found = allowed.filter(model => model.name === name || model.upstream === name)
    const model = found.find(each => each.name === name) ?? (found.length === 1 ? found[0] : undefined)
    if (!model)
      throw new DomainError('NOT_FOUND', `There is no model ${name.slice(0, 200)} that may be named: GET /providers/api/ai/models lists them.`, {
        reason: 'model_not_found',
        field: 'model',
      })
    return Response.json(wireModel(model))
  })

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
