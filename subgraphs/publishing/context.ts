import type { Browser } from '../browser.ts'
import type { Operation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import { brandById, brandLists } from './brand/store.ts'
import { connectionById, connectionsByBrand } from './connection/store.ts'
import { postById, postPages, predecessorOf } from './post/store.ts'
import type { Room } from './room.ts'
import { widgetFacts } from './widget/store.ts'

/** What publishing's resolvers receive: the room, who asks, and loaders that live for one operation. */
export interface Context extends Room {
  readonly viewer: Viewer
  readonly requestId: string
  readonly browser: Browser | undefined
  readonly brandById: ReturnType<typeof brandById>
  readonly brandLists: ReturnType<typeof brandLists>
  readonly postById: ReturnType<typeof postById>
  readonly postPages: ReturnType<typeof postPages>
  readonly predecessorOf: ReturnType<typeof predecessorOf>
  readonly connectionsByBrand: ReturnType<typeof connectionsByBrand>
  readonly connectionById: ReturnType<typeof connectionById>
  readonly widgetFacts: ReturnType<typeof widgetFacts>
}

export const openContext = (room: Room, viewer: Viewer, operation: Operation): Context => ({
  ...room,
  viewer,
  requestId: operation.requestId,
  browser: operation.browser,
  brandById: brandById(room.brands, operation),
  brandLists: brandLists(room.brands, operation),
  postById: postById(room.posts, operation),
  postPages: postPages(room.posts, operation),
  predecessorOf: predecessorOf(room.posts, operation),
  connectionsByBrand: connectionsByBrand(room.connections, operation),
  connectionById: connectionById(room.connections, operation),
  widgetFacts: widgetFacts(room.widget, room.clock, operation),
})
