import type { EventIds } from '../../../../platform/events.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { label } from '../../../engine/transport/cache/store.ts'
import { listedSlugs } from '../../registry.ts'

/** The subgraph whose answers show widgets and states of all others. */
const launcher = 'launcher'

/** Topics of changes that concern kept answers of one organization or person: of widgets, and of what the launcher shows. */
const ofWidget = /^widget\.([^.]+)\.(.+)$/
const ofOwner = /^launcher\.(?:widgets|installations)\.(organization|person)\.(.+)$/
/** Topic of changes of the service registry. */
const registry = 'registry'

/** Returns the labels of kept answers that an event of the platform makes old; null where it concerns none. */
export function labelsOfEvent(topic: string, _ids: EventIds): readonly string[] | null {
  if (topic === registry) return [label.subgraph('identity'), label.subgraph(launcher)]
  const widget = ofWidget.exec(topic)
  if (widget) return [label.owner(widget[1]!, widget[2]!), label.owner(launcher, widget[2]!)]
  const owner = ofOwner.exec(topic)
  return owner && [label.owner(launcher, owner[1] === 'organization' ? owner[2]! : null)]
}

/**
 * Returns the labels of kept answers that a mutation may make old: everything of its organization, and what the
 * subgraph answers everybody. Of a viewer whose changes may concern other organizations, everything of the subgraph.
 */
export function labelsOfMutation(subgraph: string, { organizationId, roles, kind }: Pick<Viewer, 'organizationId' | 'roles' | 'kind'>): readonly string[] {
  const own = listedSlugs.flatMap(slug => [label.owner(slug, organizationId), ...(organizationId ? [label.owner(slug, null)] : [])])
  const isForAll = organizationId === null || kind === 'service' || roles.some(role => role.startsWith('platform_'))
  return isForAll ? [label.subgraph(subgraph), label.subgraph(launcher), ...own] : [label.open(subgraph), ...own]
}
