/* The hash table of lanes that send to this rank. */
#include "senders.h"

#include "util.h"

#include <stdlib.h>

static struct hl_rx_sender *sender_place(struct hl_rx_sender *places, size_t room, uint64_t key)
{
    size_t at = hl_mix64(key) & (room - 1);
    while (places[at].key != 0 && places[at].key != key) {
        at = (at + 1) & (room - 1);
    }
    return &places[at];
}

static bool grow_senders(struct hl_rx_senders *s)
{
    size_t room = s->room == 0 ? 64 : 2 * s->room;
    struct hl_rx_sender *places = calloc(room, sizeof *places);
    if (places == NULL) {
        return false;
    }
    for (size_t i = 0; i < s->room; i++) {
        if (s->places[i].key != 0) {
            *sender_place(places, room, s->places[i].key) = s->places[i];
        }
    }
    free(s->places);
    s->places = places;
    s->room = room;
    return true;
}

static uint64_t key_of_sender(int rank, unsigned lane)
{
    return ((uint64_t)(unsigned)rank << 16 | (lane & 0xffffu)) + 1;
}

struct hl_rx_sender *hl_rx_senders_find(const struct hl_rx_senders *s, int rank, unsigned lane)
{
    struct hl_rx_sender *place =
        s->room > 0 ? sender_place(s->places, s->room, key_of_sender(rank, lane)) : NULL;
    return place != NULL && place->key != 0 ? place : NULL;
}

struct hl_rx_sender *hl_rx_senders_get(struct hl_rx_senders *s, int rank, unsigned lane)
{
    if (2 * s->count >= s->room && !grow_senders(s) && s->count + 1 >= s->room) {
        return hl_rx_senders_find(s, rank, lane); /* the last free place ends searches */
    }
    uint64_t key = key_of_sender(rank, lane);
    struct hl_rx_sender *place = sender_place(s->places, s->room, key);
    if (place->key == 0) {
        place->key = key;
        s->count++;
    }
    return place;
}

void hl_rx_senders_free(struct hl_rx_senders *s)
{
    free(s->places);
    *s = (struct hl_rx_senders){0};
}
