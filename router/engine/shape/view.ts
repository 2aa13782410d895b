import type { Deferral } from '../operation/deferral.ts'
import { bytesOf, type FieldShape, type ObjectShape, type Shape, type ValueShape } from './shape.ts'

/** Selects the fields that one payload shows. */
export interface View {
  readonly sees: (field: FieldShape) => boolean
  /** Returns a shape with those fields alone, at every depth. */
  of(shape: Shape): Shape
  ofObject(shape: ObjectShape): ObjectShape
  ofValue(shape: ValueShape): ValueShape
}

/** Creates a view; what it selected of a shape is kept. */
export function createView(sees: View['sees']): View {
  const shapes = new WeakMap<Shape, Shape>()
  const objects = new WeakMap<ObjectShape, ObjectShape>()
  return { sees, of, ofObject, ofValue }

  function of(shape: Shape): Shape {
    const known = shapes.get(shape)
    if (known) return known
    const made: Shape = {
      type: shape.type,
      of(typename) {
        const object = shape.of(typename)
        return object && ofObject(object)
      },
      get common() {
        return ofObject(shape.common)
      },
      possibleTypes: () => shape.possibleTypes(),
    }
    shapes.set(shape, made)
    return made
  }

  function ofObject(object: ObjectShape): ObjectShape {
    const known = objects.get(object)
    if (known) return known
    const made = withFields(
      object,
      object.fields.filter(sees).map(field => ({ ...field, value: ofValue(field.value) })),
    )
    objects.set(object, made)
    return made
  }

  function ofValue(value: ValueShape): ValueShape {
    if (value.items) return { ...value, items: ofValue(value.items) }
    return value.object ? { ...value, object: of(value.object) } : value
  }
}

/** Returns an object's shape with some of its fields alone. */
export function withFields(object: ObjectShape, fields: readonly FieldShape[]): ObjectShape {
  const byKey = new Map<string, FieldShape>()
  for (const field of fields) if (field.from === 'data') for (const key of [field.key, ...field.otherKeys]) byKey.set(key, field)
  return { ...object, fields, byKey, bytes: bytesOf(fields) }
}

/** Returns a shape for an object whose type is known. */
export const shapeFor = (object: ObjectShape, { type }: Shape): Shape => ({ type, of: () => object, common: object, possibleTypes: () => [type.name] })

/** Whether the first payload shows a field. */
export const isImmediate = ({ by }: FieldShape): boolean => by === null || by.includes(null)

/** Whether a deferred fragment selects a field itself. */
export const isOf =
  (deferral: Deferral) =>
  ({ by }: FieldShape): boolean =>
    by?.includes(deferral) ?? false

/** Returns the shape of the objects that a value holds; null where it holds none. */
export function objectIn(value: ValueShape): Shape | null {
  let inner = value
  while (inner.items) inner = inner.items
  return inner.object
}
