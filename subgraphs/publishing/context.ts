import type { Viewer } from '../viewer.ts'
import { brandById } from './brand/store.ts'
import { connectionById, connectionsByBrand } from './connection/store.ts'
import { postById, predecessorOf } from './post/store.ts'
import type { Room } from './room.ts'

/** What publishing's resolvers receive: the room, who asks, and loaders that live for one operation. */
export interface Context extends Room {
  readonly viewer: Viewer
  readonly requestId: string
  readonly brandById: ReturnType<typeof brandById>
  readonly postById: ReturnType<typeof postById>
  readonly predecessorOf: ReturnType<typeof predecessorOf>
  readonly connectionsByBrand: ReturnType<typeof connectionsByBrand>
  readonly connectionById: ReturnType<typeof connectionById>
}

export const openContext = (room: Room, viewer: Viewer, requestId: string): Context => ({
  ...room,
  viewer,
  requestId,
  brandById: brandById(room.brands),
  postById: postById(room.posts),
  predecessorOf: predecessorOf(room.posts),
  connectionsByBrand: connectionsByBrand(room.connections),
  connectionById: connectionById(room.connections),
})
