import type { Ask } from '../../../platform/ask.ts'
import type { Viewer } from '../../viewer.ts'
import { WidgetServicesDocument } from './ask.generated.ts'
import { canSee, sources } from './sources.ts'
import type { WidgetRow } from './table.ts'

/** The widgets that a viewer may see, in the registry's order; nothing is asked of their services yet. */
export async function visibleWidgets(ask: Ask, viewer: Viewer): Promise<WidgetRow[]> {
  const { services } = await ask(WidgetServicesDocument, {}, { appId: 'app_launcher', viewer })
  return (services ?? []).flatMap(service => {
    const source = service && sources[service.slug]
    return source && canSee(viewer, source) ? [{ id: service.id, app: service.slug, title: service.title }] : []
  })
}
