import type { GraphQLError } from 'graphql'
import { exactly, sizeOf } from '../data/bytes.ts'
import { type Data, isData } from '../data/merge.ts'
import type { IncrementalForm, Payload, PayloadEntry } from '../engine.ts'
import { errorFor, type Place } from '../errors.ts'
import type { Run } from '../execute/execute.ts'
import { withElements } from '../execute/incremental/streamed.ts'
import type { Deferral } from '../operation/deferral.ts'
import { flawErrors } from '../shape/errors.ts'
import { areRelated, elementsOf, isOfOrWithin, type Part, partsBelow, type Spot, sentOf, someObject, type Ways } from '../shape/parts.ts'
import { project } from '../shape/project.ts'
import type { FieldShape } from '../shape/shape.ts'
import { createView, isImmediate, isOf, shapeFor, type View, withFields } from '../shape/view.ts'

/** A part that was announced and is not complete. */
export interface OpenPart extends Part {
  readonly id: string
  /** Whether the parts nested in it come with it, because there are too many of them. */
  isWhole: boolean
}

/** A part that is open, as the client knows it: what is said of it when it fails. */
interface FailingPart {
  readonly id: string
  /** Of a streamed list with the index of the next element, in the form of 2022. */
  readonly path: Place
  readonly label: string | null
  readonly isList: boolean
}

/** An error of the operation, and the deferrals to whose parts it belongs; null for the first payload. */
export interface PooledError {
  readonly error: GraphQLError
  readonly for: readonly Deferral[] | null
  isSent: boolean
}

/** What writing the payloads of one answer needs. */
export interface Writing {
  readonly form: IncrementalForm
  readonly run: Run
  readonly ways: Ways
  readonly deferrals: readonly Deferral[]
  /** Maximum bytes of all payloads together. */
  readonly answerBytes: number
  /** Maximum number of parts of one answer. */
  readonly mostParts: number
  readonly errors: PooledError[]
}

interface PayloadInMaking {
  readonly pending: NonNullable<Payload['pending']>[number][]
  readonly incremental: PayloadEntry[]
  readonly completed: NonNullable<Payload['completed']>[number][]
}

/** Writes the payloads of one incremental answer; a class because its methods share the payload in the making. */
export class PayloadWriter {
  /** Parts that were announced and are not complete, in the order in which they were announced. */
  readonly open: OpenPart[] = []
  private readonly writing: Writing
  private readonly views = new Map<Deferral | null, { readonly own: View; readonly whole: View }>()
  /** Whether another part of the same payload may complete the objects of this one. */
  private readonly mayShare: boolean
  private announced = 0
  private left: number
  private payload: PayloadInMaking = { pending: [], incremental: [], completed: [] }

  constructor(writing: Writing) {
    this.writing = writing
    this.mayShare = writing.deferrals.length > 1
    this.left = writing.answerBytes
  }

  /** Announces the parts of the first payload. @returns false when there are too many of them */
  announce(root: Spot): boolean {
    return this.announceAt([root], null)
  }

  /** Counts the bytes of data that is sent. */
  count(data: unknown): void {
    this.left -= sizeOf(data, exactly)
  }

  /** Number of parts so far. */
  get parts(): number {
    return this.announced
  }

  /** Returns the payload in the making, and begins the next one. */
  take(): Omit<Payload, 'hasNext'> {
    const { pending, incremental, completed } = this.payload
    this.payload = { pending: [], incremental: [], completed: [] }
    const entries = incremental.length > 0 && { incremental }
    if (this.writing.form === '20220824') return { ...entries }
    return { ...(pending.length > 0 && { pending }), ...entries, ...(completed.length > 0 && { completed }) }
  }

  private announceAt(places: readonly Spot[], deferral: Deferral | null): boolean {
    const found: Part[] = []
    for (const at of places) found.push(...partsBelow(at, deferral, this.writing.ways, this.writing.mostParts - this.announced - found.length + 1))
    if (this.announced + found.length > this.writing.mostParts) return false
    for (const part of found) {
      const { path, deferral: begun } = part
      const id = String(this.announced++)
      this.open.push({ ...part, id, isWhole: false })
      this.payload.pending.push({ id, path, ...(begun.label !== null && { label: begun.label }) })
    }
    return true
  }

  /** What a payload shows of a deferral, by itself and with what is nested in it; null is the first payload. */
  private viewsOf(deferral: Deferral | null) {
    let known = this.views.get(deferral)
    if (!known) {
      known = deferral
        ? { own: createView(isOf(deferral)), whole: createView(isOfOrWithin(deferral)) }
        : { own: createView(isImmediate), whole: createView(() => true) }
      this.views.set(deferral, known)
    }
    return known
  }

  deliver(part: OpenPart): void {
    if (part.list) this.deliverItems(part, part.list)
    else this.deliverFragment(part)
  }

  private deliverFragment(part: OpenPart): void {
    const { own, whole } = this.viewsOf(part.deferral)
    const view = part.isWhole ? whole : own
    const pieces = this.writing.form === '20220824' ? [{ spot: part, fields: part.shape.fields.filter(view.sees) }] : this.unsent(part, view)
    const known = this.writing.errors.filter(each => this.belongsTo(each, part))
    const all = this.writing.errors.map(({ error }) => error)
    const written: { readonly spot: Spot; readonly data: Data; readonly by: readonly FieldShape[] }[] = []
    for (const { spot, fields } of pieces) {
      const keys = new Set(fields.map(({ responseKey }) => responseKey))
      const object = withFields(
        spot.shape,
        view.ofObject(spot.shape).fields.filter(({ responseKey }) => keys.has(responseKey)),
      )
      const { data, flaws } = withElements(this.writing.run, null, () =>
        project(shapeFor(object, spot.type), spot.data, noIntrospection, this.writing.run.missing, Math.max(this.left, 0)),
      )
      const placed = flaws.map(flaw => ({ ...flaw, path: [...spot.path, ...flaw.path] }))
      for (const error of flawErrors(placed, all)) known.push(this.pool(error, part.deferral))
      if (!data || !agrees(data, spot.sent)) {
        this.fail(part, known.length > 0 ? known : [this.pool(nothingLeft(part), part.deferral)])
        return
      }
      written.push({ spot, data, by: fields })
    }
    const told = markSent(known)
    written.forEach(({ spot, data, by }, at) => {
      this.write(part, spot, data, by, at === 0 ? told : [])
      this.count(data)
      add(spot.sent, this.mayShare ? copyOf(data) : data)
    })
    if (written.length === 0 && told.length > 0) this.write(part, part, {}, [], told)
    if (!part.isWhole && !this.announceAt([part], part.deferral)) {
      part.isWhole = true
      return
    }
    this.close(part)
  }

  /** Sends the other elements of a streamed list. */
  private deliverItems(part: OpenPart, { field, owner }: NonNullable<Part['list']>): void {
    const { own, whole } = this.viewsOf(part.deferral.parent)
    const view = part.isWhole ? whole : own
    const sent = sentOf(field, owner)
    const from = sent.length
    const known = this.writing.errors.filter(each => this.belongsTo(each, part))
    const value = { ...view.ofValue(field.value), nonNull: false }
    const object = withFields(owner.shape, [{ ...field, responseKey: 'items', key: 'items', otherKeys: [], value }])
    const items = elementsOf(field, owner).slice(from)
    const { data, flaws } = project(shapeFor(object, owner.type), { items }, noIntrospection, this.writing.run.missing, Math.max(this.left, 0))
    const placed = flaws.map(({ path: [, index, ...rest], ...flaw }) => ({ ...flaw, path: [...part.path, from + Number(index), ...rest] }))
    const before = this.writing.errors.length
    const all = this.writing.errors.map(({ error }) => error)
    for (const error of flawErrors(placed, all)) known.push(this.pool(error, part.deferral))
    const completed = data?.items
    if (!Array.isArray(completed)) {
      this.fail(part, known.length > 0 ? known : [this.pool(nothingLeft(part), part.deferral)])
      return
    }
    for (const item of completed) sent.push(this.mayShare ? copyOf(item) : item)
    const elements: Spot[] = []
    someObject(owner, field, inner => elements.push(inner) < 0, from)
    if (!part.isWhole && !this.announceAt(elements, part.deferral.parent)) {
      // Sent together with the parts that are nested in it, once these are ready.
      part.isWhole = true
      sent.length = from
      this.writing.errors.length = before
      return
    }
    const told = markSent(known)
    const erring = told.length > 0 && { errors: told }
    const { label } = part.deferral
    if (this.writing.form === '20220824')
      this.payload.incremental.push({ path: [...part.path, from], ...(label !== null && { label }), items: completed, ...erring })
    else this.payload.incremental.push({ id: part.id, items: completed, ...erring })
    this.count(completed)
    this.close(part)
  }

  /** Objects and fields that a part brings and the client does not have. */
  private unsent(part: OpenPart, { sees }: View): { spot: Spot; fields: FieldShape[] }[] {
    const found: { spot: Spot; fields: FieldShape[] }[] = []
    const visit = (spot: Spot) => {
      const seen = spot.shape.fields.filter(sees)
      const fields = seen.filter(({ responseKey }) => !Object.hasOwn(spot.sent, responseKey))
      if (fields.length > 0) found.push({ spot, fields })
      for (const field of seen)
        if (!fields.includes(field))
          someObject(spot, field, inner => {
            visit(inner)
            return false
          })
    }
    visit(part)
    return found
  }

  /** Of several parts that share fields, the one with the longest path has them, of equals the first. */
  private ownerOf(part: OpenPart, spot: Spot, field: FieldShape): OpenPart {
    let owner = part
    if (!field.by || field.by.length < 2) return owner
    for (const other of this.open) {
      if (!field.by.includes(other.deferral) || !isPrefix(other.path, spot.path)) continue
      if (other.path.length > owner.path.length || (other.path.length === owner.path.length && Number(other.id) < Number(owner.id))) owner = other
    }
    return owner
  }

  private write(part: OpenPart, spot: Spot, data: Data, fields: readonly FieldShape[], told: readonly GraphQLError[]): void {
    const label = part.deferral.label
    if (this.writing.form === '20220824') {
      this.payload.incremental.push({ path: part.path, ...(label !== null && { label }), data, ...(told.length > 0 && { errors: told }) })
      return
    }
    const byOwner = Map.groupBy(fields, field => this.ownerOf(part, spot, field))
    if (byOwner.size === 0) byOwner.set(part, [])
    let rest = told
    for (const [owner, own] of byOwner) {
      const subPath = spot.path.slice(owner.path.length)
      const entry = byOwner.size === 1 ? data : Object.fromEntries(own.map(({ responseKey }) => [responseKey, data[responseKey]]))
      this.payload.incremental.push({ id: owner.id, ...(subPath.length > 0 && { subPath }), data: entry, ...(rest.length > 0 && { errors: rest }) })
      rest = []
    }
  }

  fail(part: OpenPart, because: readonly PooledError[]): void {
    const told = markSent(because)
    if (this.writing.form === 'v0.2') this.payload.completed.push({ id: part.id, errors: told })
    else this.payload.incremental.push(failedEntry(failingOf(part), told))
    this.open.splice(this.open.indexOf(part), 1)
  }

  /**
   * Returns what ends the answer for a client that has the payloads so far: a payload in which all parts that are open
   * now fail by an error. The answer itself goes on.
   */
  ending(): (error: GraphQLError) => Payload {
    const open = this.open.map(failingOf)
    const isNew = this.writing.form === 'v0.2'
    return error => {
      const errors = [error]
      const failed = isNew ? { completed: open.map(({ id }) => ({ id, errors })) } : { incremental: open.map(part => failedEntry(part, errors)) }
      return { ...failed, hasNext: false }
    }
  }

  private close(part: OpenPart): void {
    if (this.writing.form === 'v0.2') this.payload.completed.push({ id: part.id })
    this.open.splice(this.open.indexOf(part), 1)
  }

  /** Whether an error is told with a part: in the form of 2022 with each part whose data has its null. */
  private belongsTo({ error, for: deferrals, isSent }: PooledError, part: OpenPart): boolean {
    if (!deferrals?.includes(part.deferral) || (isSent && this.writing.form === 'v0.2')) return false
    return error.path === undefined || areRelated(error.path, part.path)
  }

  private pool(error: GraphQLError, deferral: Deferral): PooledError {
    const pooled = { error, for: [deferral], isSent: false }
    this.writing.errors.push(pooled)
    return pooled
  }
}

function failingOf({ id, path, deferral: { label }, list }: OpenPart): FailingPart {
  return { id, path: list ? [...path, sentOf(list.field, list.owner).length] : path, label, isList: list !== null }
}

/** Says in the form of 2022 that a part failed. */
const failedEntry = ({ path, label, isList }: FailingPart, errors: readonly GraphQLError[]): PayloadEntry => ({
  path,
  ...(label !== null && { label }),
  ...(isList ? { items: null } : { data: null }),
  errors,
})

/** Marks errors as sent. */
function markSent(pooled: readonly PooledError[]): GraphQLError[] {
  for (const each of pooled) each.isSent = true
  return pooled.map(({ error }) => error)
}

/**
 * Makes the data of a part agree with what the client has: an object that a payload made null stays null.
 * @returns false where the data would make null what the client has: then the part fails as a whole
 */
function agrees(data: Data, sent: Data): boolean {
  return Object.keys(data).every(key => {
    if (!Object.hasOwn(sent, key) || sent[key] === undefined) return true
    if (sent[key] === null) {
      data[key] = null
      return true
    }
    return agree(data[key], sent[key])
  })
}

function agree(value: unknown, present: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(present)) {
    return value.every((item, index) => {
      if (present[index] === null) value[index] = null
      return present[index] === null || agree(item, present[index])
    })
  }
  if (isData(value) && isData(present)) return agrees(value, present)
  return value !== null || present === null
}

function copyOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf) as Value
  if (!isData(value)) return value
  const copy: Data = {}
  for (const [key, inner] of Object.entries(value)) set(copy, key, copyOf(inner))
  return copy as Value
}

/** Adds the data of a part to what the client has, as clients do. */
function add(target: Data, source: Data): void {
  for (const [key, value] of Object.entries(source)) {
    const present = Object.hasOwn(target, key) ? target[key] : undefined
    if (Array.isArray(present) && Array.isArray(value)) addElements(present, value)
    else if (isData(present) && isData(value)) add(present, value)
    else set(target, key, value)
  }
}

function set(target: Data, key: string, value: unknown): void {
  // Plain assignment would change the object's prototype instead.
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}

function addElements(target: unknown[], source: readonly unknown[]): void {
  source.forEach((value, index) => {
    const present = target[index]
    if (Array.isArray(present) && Array.isArray(value)) addElements(present, value)
    else if (isData(present) && isData(value)) add(present, value)
    else target[index] = value
  })
}

const isPrefix = (one: Place, other: Place): boolean => one.length <= other.length && one.every((segment, at) => segment === other[at])

/** Error of a fragment that became null although nothing failed: its object's entity is gone. */
const nothingLeft = ({ path }: Part): GraphQLError => errorFor('INTERNAL_SERVER_ERROR', 'The fragment has no value for a field that is never null.', path)

const noIntrospection: Readonly<Data> = {}
