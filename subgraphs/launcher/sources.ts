import type { Ask } from '../../platform/ask.ts'
import type { Scope } from '../scopes.ts'
import type { Viewer } from '../viewer.ts'
import { PublishingWidgetDocument, type PublishingWidgetQuery } from './ask.generated.ts'

/** What a widget shows, as its service answered it. */
export type Payload = NonNullable<PublishingWidgetQuery['publishingWidget']>

/** How the widget of one service is had: a row here is all that a new service needs. */
export interface Source {
  /** Without this scope the widget is not the viewer's to see. */
  readonly scope: Scope
  /** For whom one answer is true: an organization's widget needs an active organization. */
  readonly audience: 'organization' | 'user'
  read(ask: Ask, viewer: Viewer): Promise<Payload | null>
}

export const sources: Readonly<Record<string, Source>> = {
  publishing: {
    scope: 'publishing:dashboard.read',
    audience: 'organization',
    read: async (ask, viewer) => (await ask(PublishingWidgetDocument, {}, { appId: 'app_launcher', viewer })).publishingWidget ?? null,
  },
}

/** Whether a viewer may see the widget of a source at all. */
export const canSee = (viewer: Viewer, { scope, audience }: Source): boolean =>
  viewer.scopes.includes(scope) && (audience === 'user' ? viewer.userId !== null : viewer.organizationId !== null)
