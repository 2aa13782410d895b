import type { Events } from '../../../../platform/events.ts'
import { widgetTopic } from '../../../subgraph.ts'
import type { ApprovalRow } from '../../stores/run/approval.ts'
import type { RunRow } from '../../stores/run/run.ts'

/** The topic on which changes of an organization's runs are announced. An event carries ids; whoever listens reads the row. */
export const runTopic = (organizationId: string): string => `agents.run.${organizationId}`

/** The same for its approvals. */
export const approvalTopic = (organizationId: string): string => `agents.approval.${organizationId}`

type AnnouncedRun = Pick<RunRow, 'id' | 'organizationId' | 'version'>
type AnnouncedApproval = Pick<ApprovalRow, 'id' | 'organizationId' | 'version'>

/** Announces, after the commit, that a run was begun or changed. */
export const announceRun = (events: Events, { id, organizationId, version }: AnnouncedRun): void =>
  events.announce(runTopic(organizationId), { runId: id }, version)

/** Announces, after the commit, that an approval was asked for or changed. */
export const announceApproval = (events: Events, { id, organizationId, version }: AnnouncedApproval): void =>
  events.announce(approvalTopic(organizationId), { approvalId: id }, version)

/** Announces, after the commit, that the widget of an organization may show something else. */
export const announceWidget = (events: Events, organizationId: string): void => events.announce(widgetTopic('agents', organizationId), { app: 'agents' })

/** Has what somebody follows read again, for events may be lost between processes. */
export function resyncRuns(
  events: Events,
  changed: {
    runs(organizationId: string, since: Date): Promise<readonly AnnouncedRun[]>
    approvals(organizationId: string, since: Date): Promise<readonly AnnouncedApproval[]>
  },
): void {
  events.resync(runTopic(''), async (organizationId, since) =>
    (await changed.runs(organizationId, since)).map(({ id, version }) => ({ ids: { runId: id }, mark: version })),
  )
  events.resync(approvalTopic(''), async (organizationId, since) =>
    (await changed.approvals(organizationId, since)).map(({ id, version }) => ({ ids: { approvalId: id }, mark: version })),
  )
}
