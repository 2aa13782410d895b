import { createRequire } from 'node:module'

const requireHere = createRequire(import.meta.url)

/** Loads an optional peer dependency; null where it is not installed. @throws what a broken installation throws */
export function optional<Module>(name: string): Module | null {
  try {
    return requireHere(name) as Module
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'MODULE_NOT_FOUND' && message.includes(`'${name}'`)) return null
    throw cause
  }
}
