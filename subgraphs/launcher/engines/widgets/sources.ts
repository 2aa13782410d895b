import type { Ask } from '../../../../platform/ask.ts'
import type { Scope } from '../../../scopes.ts'
import type { Viewer } from '../../../viewer.ts'
import { type ShownWidgetFragment, WidgetsDocument, type WidgetsQuery } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'

const { appId } = registration

/** What a widget shows, as its service answered it. */
export type Payload = ShownWidgetFragment

/** How the widget of one service is had: a row here is all that a new service needs. */
export interface Source {
  /** Without this scope the widget is not the viewer's to see. */
  readonly scope: Scope
  /** For whom one answer is true: an organization's widget needs an active organization. */
  readonly audience: 'organization' | 'user'
  /** Its own part of an answer. */
  shown(answer: WidgetsQuery): Payload | null | undefined
}

export const sources: Readonly<Record<string, Source>> = {
  publishing: {
    scope: 'publishing:dashboard.read',
    audience: 'organization',
    shown: ({ publishingWidget }) => publishingWidget,
  },
  agents: {
    scope: 'agents:workspace.read',
    audience: 'organization',
    shown: ({ agentsWidget }) => agentsWidget,
  },
  payments: {
    scope: 'payments:dashboard.read',
    audience: 'organization',
    shown: ({ paymentsWidget }) => paymentsWidget,
  },
  providers: {
    scope: 'providers:usage.read',
    audience: 'organization',
    shown: ({ providersWidget }) => providersWidget,
  },
}

/**
 * What widgets show, by one question to all of their services. Rejects when one of them cannot be asked.
 * @param apps of `sources`
 */
export async function readWidgets(apps: readonly string[], ask: Ask, viewer: Viewer): Promise<ReadonlyMap<string, Payload | null>> {
  const asked = (app: string) => apps.includes(app)
  const variables = { publishing: asked('publishing'), agents: asked('agents'), payments: asked('payments'), providers: asked('providers') }
  const answer = await ask(WidgetsDocument, variables, { appId, viewer })
  return new Map(apps.map(app => [app, sources[app]?.shown(answer) ?? null]))
}

/** Whether a viewer may see the widget of a source at all. */
export const canSee = (viewer: Viewer, { scope, audience }: Source): boolean =>
  viewer.scopes.includes(scope) && (audience === 'user' ? viewer.userId !== null : viewer.organizationId !== null)
