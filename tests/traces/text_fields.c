/* See text_fields.h. */
#include "traces/text_fields.h"

#define ALL_KINDS                                                                                  \
    (KIND_BIT(CALL) | KIND_BIT(SEND) | KIND_BIT(RECV) | KIND_BIT(COMPLETE) | KIND_BIT(PROBE) |     \
     KIND_BIT(COLLECTIVE) | KIND_BIT(COMM) | KIND_BIT(NOTE) | KIND_BIT(FAULT) |                    \
     KIND_BIT(STORAGE) | KIND_BIT(END) | KIND_BIT(FAILED))
#define RECEIVES (KIND_BIT(RECV) | KIND_BIT(PROBE))
#define OTHERS (ALL_KINDS & ~RECEIVES)

/* In the order in which they are written. Of several words for one field of a kind the first is
 * written, all are read. */
const struct text_word text_words[] = {
    {"to", FIELD_PEER, KIND_BIT(SEND), false, false},
    {"from", FIELD_WANT_PEER, RECEIVES, false, false},
    {"tag", FIELD_WANT_TAG, RECEIVES, false, true},
    {"id", FIELD_COMM, KIND_BIT(COMM), false, false},
    {"parent", FIELD_BYTES, KIND_BIT(COMM), false, false},
    {"rank", FIELD_PEER, KIND_BIT(COMM), false, false},
    {"size", FIELD_TAG, KIND_BIT(COMM) | KIND_BIT(FAILED), false, false},
    {"remote", FIELD_HASH, KIND_BIT(COMM), false, false},
    {"step", FIELD_TAG, KIND_BIT(FAULT), false, false},
    {"value", FIELD_BYTES, KIND_BIT(NOTE) | KIND_BIT(FAULT), false, false},
    {"signal", FIELD_TAG, KIND_BIT(END), false, false},
    {"exit", FIELD_BYTES, KIND_BIT(END), false, false},
    {"file", FIELD_REQUEST, KIND_BIT(STORAGE), false, false},
    {"folder", FIELD_COMM, KIND_BIT(STORAGE), false, false},
    {"comm", FIELD_COMM, ALL_KINDS & ~(KIND_BIT(STORAGE) | KIND_BIT(FAULT)), false, false},
    {"root", FIELD_PEER, KIND_BIT(COLLECTIVE), false, false},
    {"sender", FIELD_PEER, KIND_BIT(NOTE), false, false}, /* of a numbered message, these three */
    {"receiver", FIELD_REQUEST, KIND_BIT(NOTE), false, false},
    {"rsn", FIELD_HASH, KIND_BIT(NOTE), false, false},
    {"request", FIELD_REQUEST, ALL_KINDS & ~KIND_BIT(STORAGE), false, false},
    {"got", FIELD_PEER, RECEIVES | KIND_BIT(COMPLETE), false, false},
    {"peer", FIELD_PEER, ALL_KINDS, false, false},
    {"tag", FIELD_REQUEST, KIND_BIT(NOTE), false, false}, /* of the message that a note tells of */
    {"tag", FIELD_TAG, RECEIVES, true, false},
    {"tag", FIELD_TAG, OTHERS & ~(KIND_BIT(NOTE) | KIND_BIT(STORAGE)), false, false},
    {"bytes", FIELD_BYTES, ALL_KINDS, false, false},
    {"offset", FIELD_RESULT, KIND_BIT(STORAGE), false, false},
    {"hash", FIELD_HASH, ALL_KINDS, false, false},
    {"previous", FIELD_RESULT, KIND_BIT(NOTE), false, false},
    {"result", FIELD_RESULT, OTHERS & ~(KIND_BIT(NOTE) | KIND_BIT(STORAGE)), false, false},
    {"thread", FIELD_THREAD, ALL_KINDS, false, false},
    {"error", FIELD_ERROR, ALL_KINDS, false, false},
    {"call", FIELD_CALL, ALL_KINDS, false, false},
};
const size_t text_word_count = sizeof text_words / sizeof text_words[0];

const struct text_flag text_flags[] = {
    {"cancelled", FLAG_CANCELLED}, {"no-hash", FLAG_NO_HASH},       {"negative", FLAG_NEGATIVE},
    {"matched", FLAG_MATCHED},     {"inter", FLAG_INTER},           {"in-place", FLAG_IN_PLACE},
    {"freed", FLAG_FREED},         {"persistent", FLAG_PERSISTENT},
};
const size_t text_flag_count = sizeof text_flags / sizeof text_flags[0];

int64_t text_get(const struct record *record, enum text_field field)
{
    switch (field) {
    case FIELD_COMM:
        return record->comm;
    case FIELD_PEER:
        return record->peer;
    case FIELD_TAG:
        return record->tag;
    case FIELD_REQUEST:
        return record->request;
    case FIELD_BYTES:
        return (int64_t)record->bytes;
    case FIELD_HASH:
        return (int64_t)record->hash;
    case FIELD_WANT_PEER:
        return record->want_peer;
    case FIELD_WANT_TAG:
        return record->want_tag;
    case FIELD_RESULT:
        return (int64_t)record->result_hash;
    case FIELD_THREAD:
        return record->thread;
    case FIELD_ERROR:
        return record->error;
    default:
        return record->call;
    }
}

void text_set(struct record *record, enum text_field field, int64_t value)
{
    switch (field) {
    case FIELD_COMM:
        record->comm = (uint32_t)value;
        break;
    case FIELD_PEER:
        record->peer = (int32_t)value;
        break;
    case FIELD_TAG:
        record->tag = (int32_t)value;
        break;
    case FIELD_REQUEST:
        record->request = (uint32_t)value;
        break;
    case FIELD_BYTES:
        record->bytes = (uint64_t)value;
        break;
    case FIELD_HASH:
        record->hash = (uint64_t)value;
        break;
    case FIELD_WANT_PEER:
        record->want_peer = (int32_t)value;
        break;
    case FIELD_WANT_TAG:
        record->want_tag = (int32_t)value;
        break;
    case FIELD_RESULT:
        record->result_hash = (uint64_t)value;
        break;
    case FIELD_THREAD:
        record->thread = (uint16_t)value;
        break;
    case FIELD_ERROR:
        record->error = (uint8_t)value;
        break;
    default:
        record->call = (uint16_t)value;
        break;
    }
}

int64_t text_default(unsigned kind, enum text_field field)
{
    if (field == FIELD_COMM && (kind == RECORD_SEND || kind == RECORD_RECV ||
                                kind == RECORD_PROBE || kind == RECORD_COLLECTIVE))
        return COMM_WORLD_ID;
    if (field == FIELD_PEER && kind == RECORD_COLLECTIVE)
        return PEER_NONE;
    if (field == FIELD_RESULT && kind == RECORD_STORAGE)
        return (int64_t)STORAGE_NO_OFFSET;
    return 0;
}

bool text_hash_expected(unsigned kind, bool got)
{
    return kind == RECORD_SEND || (got && (kind == RECORD_RECV || kind == RECORD_COMPLETE));
}
