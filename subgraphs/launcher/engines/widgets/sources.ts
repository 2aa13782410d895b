import type { Ask } from '../../../../platform/ask.ts'
import type { Scope } from '../../../scopes.ts'
import type { Viewer } from '../../../viewer.ts'
import { type ShownWidgetFragment, WidgetsDocument, type WidgetsQuery } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'

const { appId } = registration

/** Content of a widget, as its service returned it. */
export type Payload = ShownWidgetFragment

/** How to read the widget of one service; a new service needs only an entry here. */
export interface Source {
  /** Scope that a viewer needs to see the widget. */
  readonly scope: Scope
  /**
   * Whether a widget's content is the same for an organization or for a person; an organization's widget needs an
   * active organization.
   */
  readonly audience: 'organization' | 'user'
  /** Returns the widget's part of a combined answer. */
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
 * Reads the content of several widgets by one operation over all their services. Rejects when one of them cannot be
 * reached.
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
