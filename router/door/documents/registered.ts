/** The caller that registers or requests a document. */
export interface Registrant {
  /** The name under which everything of one caller is counted (`callerName`). */
  readonly name: string
  /** Whether the platform knows the caller. */
  readonly isKnown: boolean
}

/** Texts of documents that clients registered, by the SHA-256 of each: Apollo's automatic persisted queries. */
export interface Registered {
  /** Returns the text, or a promise where other processes are asked for it. */
  find(hash: string, caller: Registrant): string | undefined | Promise<string | undefined>
  /** Returns a promise where other processes take the text as well: the next request may reach one of them. */
  keep(hash: string, text: string, caller: Registrant): void | Promise<void>
}

/** A store of documents in this process alone. */
export interface OwnRegistered extends Registered {
  find(hash: string, caller: Registrant): string | undefined
  keep(hash: string, text: string, caller: Registrant): void
}

/** A store that several processes share. Neither call fails: a store that does not answer in time has nothing. */
export interface SharedRegistered {
  find(hash: string, caller: Registrant): Promise<string | undefined>
  keep(hash: string, text: string, caller: Registrant): Promise<void>
}

/** Number of texts kept of known callers, and as many again of strangers; and bytes that each of the two may take, roughly. */
const maxKept = { entries: 5000, bytes: 16 * 1024 * 1024 }

/**
 * Stores registered documents in this process. Those of strangers have a shelf of their own: however many they register, what a known caller
 * registered, or asked for once, stays. On a full shelf the caller that has the most of it loses its least recently used document, so no
 * caller pushes out the documents of others. A dropped document is PERSISTED_QUERY_NOT_FOUND, and its client sends it again.
 */
export function createRegistered(limits = maxKept): OwnRegistered {
  const [ofKnown, ofStrangers] = [createShelf(limits), createShelf(limits)]
  return {
    find(hash, { name, isKnown }) {
      const known = ofKnown.get(hash)
      if (known !== undefined) return known
      const text = ofStrangers.get(hash)
      // Stores a copy, so that the other organization's document keeps its own lifetime.
      if (isKnown && text !== undefined) ofKnown.set(hash, text, name)
      return text
    },
    keep(hash, text, { name, isKnown }) {
      if (ofKnown.get(hash) === undefined) (isKnown ? ofKnown : ofStrangers).set(hash, text, name)
    },
  }
}

/** Stores documents in this process and, for the processes beside it, in the store that they share. */
export function shareRegistered(own: OwnRegistered, shared: SharedRegistered): Registered {
  return {
    find(hash, caller) {
      const text = own.find(hash, caller)
      if (text !== undefined) return text
      return shared.find(hash, caller).then(found => {
        if (found !== undefined) own.keep(hash, found, caller)
        return found
      })
    },
    keep(hash, text, caller) {
      // A local document came from the shared store or was written to it.
      if (own.find(hash, caller) !== undefined) return
      own.keep(hash, text, caller)
      return shared.keep(hash, text, caller)
    },
  }
}

interface Owner {
  bytes: number
  /** Hashes of its texts, the least recently used first. */
  readonly hashes: Set<string>
}

function createShelf({ entries, bytes }: typeof maxKept) {
  const texts = new Map<string, { readonly text: string; readonly owner: string }>()
  /** The least recently used first. */
  const owners = new Map<string, Owner>()
  let taken = 0

  const use = (hash: string, owner: string): Owner => {
    const found = owners.get(owner) ?? { bytes: 0, hashes: new Set() }
    owners.delete(owner)
    owners.set(owner, found)
    found.hashes.delete(hash)
    found.hashes.add(hash)
    return found
  }
  /** Drops the least recently used text of the owner that has the most by a measure. */
  const drop = (measure: (owner: Owner) => number) => {
    const [name, owner] = [...owners].reduce((most, each) => (measure(each[1]) > measure(most[1]) ? each : most))
    const [hash] = owner.hashes as unknown as [string]
    const size = sizeOf(texts.get(hash)!.text)
    texts.delete(hash)
    owner.hashes.delete(hash)
    owner.bytes -= size
    taken -= size
    if (owner.hashes.size === 0) owners.delete(name)
  }
  return {
    get(hash: string): string | undefined {
      const known = texts.get(hash)
      if (known) use(hash, known.owner)
      return known?.text
    },
    set(hash: string, text: string, owner: string): void {
      if (this.get(hash) !== undefined) return
      texts.set(hash, { text, owner })
      use(hash, owner).bytes += sizeOf(text)
      taken += sizeOf(text)
      while (taken > bytes) drop(each => each.bytes)
      while (texts.size > entries) drop(each => each.hashes.size)
    },
  }
}

/** Bytes of memory that a text takes, roughly. */
const sizeOf = (text: string): number => 2 * text.length + 200
