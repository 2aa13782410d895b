import { DomainError } from '../../../platform/errors.ts'
import { newId, requireId, requireName } from '../../../platform/ids.ts'
import { slugPattern } from '../stores/catalog-entry.ts'
import type { Board, LayoutItem, LayoutRow } from '../stores/dashboard/dashboard-layout.ts'

/** Maximum boards of a layout, apps of a board, and characters of a name. */
export const max = { boards: 10, items: 100, name: 80, order: 100_000 } as const

/** An item as it is given: its place in the list is its order. */
export interface GivenItem {
  readonly app: string
  readonly order?: number | null | undefined
  readonly size?: LayoutItem['size'] | null | undefined
  readonly hidden?: boolean | null | undefined
}

export interface GivenBoard {
  readonly id?: string | null | undefined
  readonly name: string
  readonly items: readonly GivenItem[]
}

/** What a change mentions. */
export interface GivenLayout {
  readonly items?: readonly GivenItem[] | null | undefined
  readonly boards?: readonly GivenBoard[] | null | undefined
}

const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

function readItems(given: readonly GivenItem[], field: string): readonly LayoutItem[] {
  if (given.length > max.items) throw mistake(field, `${field} has ${given.length} apps: the maximum is ${max.items}.`)
  const items = given.map(({ app, order, size, hidden }, at) => {
    if (!slugPattern.test(app)) throw mistake(field, `${field} names an app by something that is no slug: take the app's \`app\`.`)
    const place = order ?? at
    if (place < 0 || place > max.order) throw mistake(field, `order is ${place}: it takes 0 to ${max.order}.`)
    return { app, order: place, size: size ?? ('MEDIUM' as const), hidden: hidden ?? false }
  })
  if (new Set(items.map(({ app }) => app)).size < items.length) throw mistake(field, `${field} names an app twice: a board has each once.`)
  return items.sort((a, b) => a.order - b.order)
}

function readBoards(given: readonly GivenBoard[], present: readonly Board[], now: Date): readonly Board[] {
  if (given.length > max.boards) throw mistake('boards', `boards has ${given.length} entries: the maximum is ${max.boards}.`)
  const boards = given.map(({ id, name, items }) => {
    const known = id === null || id === undefined ? null : requireId(id, 'boards.id')
    if (known !== null && !present.some(board => board.id === known)) throw mistake('boards.id', `The layout has no board ${known}: omit id for a new one.`)
    return { id: known ?? newId(now), name: requireName(name, 'boards.name', max.name), items: readItems(items, 'boards.items') }
  })
  const isOnce = (values: readonly string[]) => new Set(values).size === values.length
  if (!isOnce(boards.map(({ name }) => name.toLowerCase()))) throw mistake('boards.name', 'Two boards have one name: name the second otherwise.')
  if (!isOnce(boards.map(({ id }) => id))) throw mistake('boards.id', 'boards names a board twice: take each once.')
  return boards
}

/**
 * Returns the layout after a change; what the change does not mention stays.
 * @param present the layout that is changed, or shown so far; null for an empty one
 * @throws BAD_USER_INPUT with the field that is wrong
 */
export function arranged(present: Pick<LayoutRow, 'items' | 'boards'> | null, { items, boards }: GivenLayout, now: Date) {
  return {
    items: items ? readItems(items, 'items') : (present?.items ?? []),
    boards: boards ? readBoards(boards, present?.boards ?? [], now) : (present?.boards ?? []),
  }
}

/** Returns a layout for clients: without a row an empty one of version 0. */
export const shown = (row: LayoutRow | null, userId: string | null) => ({
  items: row?.items ?? [],
  boards: row?.boards ?? [],
  inherited: userId !== null && row?.userId !== userId,
  version: row?.version ?? 0,
})
