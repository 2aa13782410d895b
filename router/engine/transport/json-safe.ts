/**
 * Converts a value as a JSON round trip would, so that a call in this process answers like HTTP: dates become ISO
 * strings, bigints strings, unsupported values null. Copies only the parts that change and alters nothing in place,
 * because scalars may return objects that the application keeps.
 */
export function jsonSafe(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return String(value)
    case 'object':
      return value === null ? null : safeObject(value)
    default:
      return null
  }
}

function safeObject(value: object): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | null = null
    for (let index = 0; index < value.length; index++) {
      const safe = jsonSafe(value[index])
      if (safe !== value[index] && !copy) copy = value.slice()
      if (copy) copy[index] = safe
    }
    return copy ?? value
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonSafe(value.toJSON())
  let copy: Record<string, unknown> | null = null
  for (const [key, inner] of Object.entries(value)) {
    const safe = inner === undefined ? undefined : jsonSafe(inner)
    if (safe === inner && inner !== undefined) continue
    // No prototype, so that a key named __proto__ is a key.
    copy ??= Object.assign(Object.create(null) as Record<string, unknown>, value)
    if (safe === undefined) delete copy[key]
    else copy[key] = safe
  }
  return copy ?? value
}
