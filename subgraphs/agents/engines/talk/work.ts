import type { Events } from '../../../../platform/events.ts'
import type { runStore } from '../../stores/run/run.ts'
import type { conversationStore } from '../../stores/talk/conversation.ts'
import type { conversationMessageStore } from '../../stores/talk/message.ts'
import type { planStore } from '../../stores/workflow.ts'
import type { killSwitchStore } from '../../stores/workspace/kill-switch.ts'
import type { Searching } from '../knowledge/search.ts'
import type { ModelWork } from '../model/work.ts'
import type { Stops } from './stops.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What replies are written with: everybody's rows. */
export interface TalkWork extends ModelWork, Searching {
  readonly conversations: Opened<typeof conversationStore>
  readonly conversationMessages: Opened<typeof conversationMessageStore>
  readonly killSwitches: Opened<typeof killSwitchStore>
  readonly plans: Opened<typeof planStore>
  readonly runs: Opened<typeof runStore>
  /** What ends the calls of stopped replies. */
  readonly stops: Stops
  /** What takes runs on. */
  readonly runner: { soon(): void }
  readonly events: Events
}
