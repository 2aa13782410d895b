import type { Ask } from '../../platform/ask.ts'
import type { Scope } from '../scopes.ts'
import type { Viewer } from '../viewer.ts'
import { AgentsWidgetDocument, PaymentsWidgetDocument, ProvidersWidgetDocument, PublishingWidgetDocument, type ShownWidgetFragment } from './ask.generated.ts'
import { registration } from './registration.ts'

const { appId } = registration

/** What a widget shows, as its service answered it. */
export type Payload = ShownWidgetFragment

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
    read: async (ask, viewer) => (await ask(PublishingWidgetDocument, {}, { appId, viewer })).publishingWidget ?? null,
  },
  agents: {
    scope: 'agents:workspace.read',
    audience: 'organization',
    read: async (ask, viewer) => (await ask(AgentsWidgetDocument, {}, { appId, viewer })).agentsWidget ?? null,
  },
  payments: {
    scope: 'payments:dashboard.read',
    audience: 'organization',
    read: async (ask, viewer) => (await ask(PaymentsWidgetDocument, {}, { appId, viewer })).paymentsWidget ?? null,
  },
  providers: {
    scope: 'providers:usage.read',
    audience: 'organization',
    read: async (ask, viewer) => (await ask(ProvidersWidgetDocument, {}, { appId, viewer })).providersWidget ?? null,
  },
}

/** Whether a viewer may see the widget of a source at all. */
export const canSee = (viewer: Viewer, { scope, audience }: Source): boolean =>
  viewer.scopes.includes(scope) && (audience === 'user' ? viewer.userId !== null : viewer.organizationId !== null)
