import type { Events } from '../../../platform/events.ts'
import type { Owner } from '../stores/installation.ts'

/** Returns the topic on which widgets of third parties change, for an organization or a person in personal context. */
export const changeTopic = ({ organizationId, userId }: Owner): string =>
  `launcher.widgets.${organizationId ? `organization.${organizationId}` : `person.${userId}`}`

/** What an app says that changed: for an organization, for one person, or for one person there. */
export interface WidgetChange {
  readonly app: string
  readonly organizationId: string | null
  readonly userId: string | null
}

/** Publishes that an app's widget may show something else now. */
export function announceChange(events: Events, { app, organizationId, userId }: WidgetChange): void {
  if (organizationId) events.announce(changeTopic({ organizationId, userId: null }), { app })
  else if (userId) events.announce(changeTopic({ organizationId: null, userId }), { app })
}
