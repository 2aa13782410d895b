import { randomBytes } from 'node:crypto'
import { publicHalf } from '../router/engine/transport/seal.ts'

// Prints a new pair of keys in the form that the configuration takes; the name tells pairs apart when they rotate.
const id = process.argv[2] ?? 'k1'
const key = randomBytes(32)
console.log(`SEAL_PRIVATE_KEY=${id}:${key.toString('base64')}`)
console.log(`SEAL_PUBLIC_KEYS=${id}:${publicHalf({ id, key }).key.toString('base64')}`)
